mod debian/bloomshm.ini
