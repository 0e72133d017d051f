"""
weak.py - every execution of a few tiny threads under the weak memory of C11.

An operational model: a location is a list of messages in modification order; a thread sees, of each
location, no message that is older than its view. A store may go between older messages, as long as
they are not older than the thread's view. A message of a release store carries the thread's view;
an acquire load that reads it takes it over; fences, read-modify-writes (which take the place right
behind what they read) and release sequences as in C++20. All orders of the steps, all messages that
a load may read and all places of a store are tried. This is the "promising semantics" of Kang et
al. (POPL 2017) without promises: what RC11 (Lahav et al., PLDI 2017) allows of fences, release,
acquire and relaxed accesses.

Sequentially consistent loads and stores are no more here than acquire and release, so what is
`never` here is never in RC11; only fences have the one order. What RC11 forbids and C11 does not is
not tried: a load that is carried out after a store that follows it in the program (load buffering).

Licensed under the MIT licence; see LICENSE.
"""

RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = "relaxed", "acquire", "release", "acq_rel", "seq_cst"
ACQUIRES = (ACQUIRE, ACQ_REL, SEQ_CST)
RELEASES = (RELEASE, ACQ_REL, SEQ_CST)


# The steps of a thread, which is a generator: `value = yield load('word', ACQUIRE)`.


def load(where, order):
    return ("load", where, order, None)


def wait_for(where, value, order):
    """A loop of loads that ends when it reads the value."""
    return ("load", where, order, value)


def store(where, value, order):
    return ("store", where, order, value)


def change(where, order, how):
    """A read-modify-write; how(old) is the new value, or None: it fails, and was a relaxed load."""
    return ("change", where, order, how)


def swap(where, old, new, order):
    """A compare-and-swap. Gives what was read."""
    return change(where, order, lambda value: new if value == old else None)


def take(where, me, order=ACQUIRE):
    """A loop that takes a lock."""
    return ("take", where, order, me)


def fence(order):
    """None: no fence."""
    return ("fence", None, order, None)


def join(a, b):
    return tuple(map(max, a, b))


def at(view, where, place):
    return view[:where] + (max(view[where], place),) + view[where + 1 :]


class Explorer:
    """Of one test: `threads` are functions that make generators; forbidden(results, last) judges
    what they return, and the last value of each location. A thread's state is what it has
    read so far, and its views: of what it sees, of what an acquire fence would let it see,
    and of what its relaxed stores carry."""

    def __init__(self, threads, forbidden, init=None):
        self.threads, self.forbidden, self.init = threads, forbidden, init or {}
        self.names = {}
        self.states = 0

    def where(self, name):
        return self.names.setdefault(name, len(self.names))

    def next_step(self, index, read):
        """The step that a thread that has read so much takes next; or what it returned."""
        thread = self.threads[index]()
        try:
            step = next(thread)
            for value in read:
                step = thread.send(value)
            return step, None
        except StopIteration as end:
            return None, end

    def find(self):
        """An execution whose results are forbidden, or None."""
        while True:
            known = len(self.names)
            found = self.search()
            if found is not None or len(self.names) == known:
                return found

    def search(self):
        count = len(self.names)
        zero = (0,) * count
        by_place = sorted(self.names, key=self.names.get)
        memory = tuple(((self.init.get(name, 0), zero, False),) for name in by_place)
        threads = tuple(((), zero, zero, zero) for _ in self.threads)
        stack = [(memory, zero, threads)]
        seen = set(stack)
        while stack:
            state = stack.pop()
            self.states = len(seen)
            steps = [self.next_step(i, t[0]) for i, t in enumerate(state[2])]
            if all(step is None for step, _ in steps):
                results = [end.value for _, end in steps]
                last = {name: state[0][self.names[name]][-1][0] for name in by_place}
                if self.forbidden(results, last):
                    return results
                continue
            for name in [step[1] for step, _ in steps if step is not None and step[1] is not None]:
                self.where(name)
            if len(self.names) != count:
                return None  # a new location: begun anew
            local = [
                i
                for i, (step, _) in enumerate(steps)
                if step is not None and step[0] == "fence" and step[2] != SEQ_CST
            ]
            # A step that no other thread can tell apart from doing it earlier is done at once.
            for i in local[:1] or [i for i, (step, _) in enumerate(steps) if step is not None]:
                for after in self.take_step(state, i, steps[i][0]):
                    if after not in seen:
                        seen.add(after)
                        stack.append(after)
        return None

    def take_step(self, state, index, step):
        memory, consistent, threads = state
        kind, name, order, value = step
        read, seen, acquirable, released = threads[index]

        def with_thread(thread, memory=memory, consistent=consistent):
            return (memory, consistent, threads[:index] + (thread,) + threads[index + 1 :])

        if kind == "fence":
            if order in ACQUIRES:
                seen = acquirable
            if order == SEQ_CST:
                consistent = seen = acquirable = join(consistent, seen)
            if order in RELEASES:
                released = seen
            yield with_thread((read + (None,), seen, acquirable, released), consistent=consistent)
        else:
            where = self.names[name]
            oldest = seen[where]
            if kind == "store":
                for place in range(oldest + 1, len(memory[where]) + 1):
                    if place == len(memory[where]) or not memory[where][place][2]:
                        yield self.stored(state, index, where, place, value, order, None, False)
                return
            for place in range(oldest, len(memory[where])):
                got, carried, _ = memory[where][place]
                new = None
                if kind == "change":
                    new = value(got)
                elif kind == "take":
                    if got != 0:
                        continue
                    new = value
                elif value is not None and got != value:
                    continue
                if new is not None:
                    if place + 1 == len(memory[where]) or not memory[where][place + 1][2]:
                        yield self.stored(state, index, where, place + 1, new, order, got, True)
                    continue
                order_read = order if kind == "load" else RELAXED
                sees = at(seen, where, place)
                could = join(at(acquirable, where, place), carried)
                if order_read in ACQUIRES:
                    sees = join(sees, carried)
                after = (read + (got,), sees, join(could, sees), released)
                yield with_thread(after)

    def stored(self, state, index, where, place, value, order, got, changed):
        """A store, or the change of the message before `place`: all places behind it move by
        one."""
        memory, consistent, threads = state

        def moved(view):
            if view[where] < place:
                return view
            return view[:where] + (view[where] + 1,) + view[where + 1 :]

        memory = tuple(tuple((v, moved(view), c) for v, view, c in messages) for messages in memory)
        threads = [(t[0], moved(t[1]), moved(t[2]), moved(t[3])) for t in threads]
        consistent = moved(consistent)
        read, seen, acquirable, released = threads[index]
        carried = memory[where][place - 1][1] if changed else None
        if changed:
            acquirable = join(acquirable, carried)
            if order in ACQUIRES:
                seen = join(seen, carried)
        seen = at(seen, where, place)
        acquirable = join(acquirable, seen)
        carries = at(seen if order in RELEASES else released, where, place)
        if changed:
            carries = join(carries, carried)  # a release sequence goes on
        messages = memory[where]
        messages = messages[:place] + ((value, carries, changed),) + messages[place:]
        memory = memory[:where] + (messages,) + memory[where + 1 :]
        threads[index] = (read + (got,), seen, acquirable, released)
        return (memory, consistent, tuple(threads))
