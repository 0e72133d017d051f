/*
 * bench_records.cpp - the record store's core beside Tkrzw's CacheDBM.
 *
 *   bench_records RECORDS SEGMENT
 *
 * RECORDS unique keys of 8 digits, as tkrzw_dbm_perf makes them, with values of 8 bytes: set all,
 * get all (with the value), get all in lists of 20, remove all, and set and remove all in lists of
 * 20; by one worker, and by two at once. Each measurement is a process of its own; CacheDBM is
 * shared by threads, which is what it is for, the store by processes. Prints nanoseconds an
 * operation and bytes a record, as one line of JSON.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
extern "C" {
#include "core/bshm_records.h"
}

#include <tkrzw_dbm_cache.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

enum Operation {
	kSet,
	kGet,
	kGet20,
	kRemove,
	kSet20,
	kRemove20,
	kOperations
};
const char *const kNames[kOperations] = {"set", "get", "get_20", "remove", "set_20", "remove_20"};
constexpr unsigned kList = 20;
constexpr unsigned kTries = 100; /* of a call that did not get its lock in time */

struct Result {
	double ns[kOperations][2]; /* by one worker, by two */
	double bytes;
};

double Now()
{
	using namespace std::chrono;
	return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void MakeKey(uint64_t number, char *key)
{
	for (int i = 7; i >= 0; i--, number /= 10) {
		key[i] = static_cast<char>('0' + number % 10);
	}
}

double ResidentBytes()
{
	long pages = 0;
	long resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (file == nullptr || fscanf(file, "%ld %ld", &pages, &resident) != 2) {
		abort();
	}
	fclose(file);
	return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/* ------------------------------------------------------------------ CacheDBM */

void WorkTkrzw(
	tkrzw::CacheDBM *dbm, unsigned operation, uint64_t first, uint64_t step, uint64_t end)
{
	char key[8];
	std::string value;
	for (uint64_t i = first; i < end; i += step) {
		MakeKey(i, key);
		const std::string_view view(key, 8);
		bool good = true;
		if (operation == kSet) {
			good = dbm->Set(view, view).IsOK();
		} else if (operation == kRemove) {
			good = dbm->Remove(view).IsOK();
		} else {
			good = dbm->Get(view, &value).IsOK() && value == view;
		}
		if (!good) {
			abort();
		}
	}
}

void MeasureTkrzw(uint64_t records, unsigned workers, Result *result)
{
	const double before = ResidentBytes();
	tkrzw::CacheDBM dbm(static_cast<int64_t>(records + records / 10), -1);
	for (unsigned operation = 0; operation < kOperations; operation++) {
		const int single = operation == kGet20      ? kGet
						   : operation == kSet20    ? kSet
						   : operation == kRemove20 ? kRemove
													: -1;
		if (single >= 0) { /* it has no lists: as one by one */
			result->ns[operation][workers - 1] = result->ns[single][workers - 1];
			continue;
		}
		const double start = Now();
		std::vector<std::thread> threads;
		for (unsigned w = 0; w < workers; w++) {
			threads.emplace_back(WorkTkrzw, &dbm, operation, w, workers, records);
		}
		for (auto &thread : threads) {
			thread.join();
		}
		result->ns[operation][workers - 1] = (Now() - start) * 1e9 / static_cast<double>(records);
		if (operation == kSet) {
			result->bytes = (ResidentBytes() - before) / static_cast<double>(records);
		}
	}
}

/* ------------------------------------------------------------------ the store */

bshm_segment *OpenStore(const char *path, uint64_t records)
{
	bshm_options options = {};
	options.path = path;
	options.filter_bytes = BSHM_FILTER_BYTES_MIN;
	options.cache_bytes = (UINT64_C(1) << 20) + records * 40;
	options.cache_records = records + records / 10;
	options.mode = 0600;
	bshm_segment *segment;
	bshm_error error;
	if (bshm_segment_open(&options, &segment, &error) != BSHM_OK) {
		fprintf(stderr, "%s: %s\n", path, bshm_status_str(error.status));
		exit(1);
	}
	return segment;
}

/* The next of a worker's keys, which are their own values. */
struct List {
	char bytes[kList][8];
	bshm_key keys[kList];
	unsigned count;

	void Take(uint64_t *next, uint64_t step, uint64_t end)
	{
		for (count = 0; count < kList && *next < end; count++, *next += step) {
			MakeKey(*next, bytes[count]);
			keys[count] = {bytes[count], 8};
		}
	}
};

/* On a busy machine a worker may be without a processor, while it has a lock, for longer than the
 * other one waits. Then the other one's call is made again, and all of its time counts. */
template <typename Call> bool Done(Call call)
{
	int status = BSHM_E_TIMEOUT;
	for (unsigned tries = 0; tries < kTries && status == BSHM_E_TIMEOUT; tries++) {
		status = call();
	}
	return status == 1;
}

bool Set(bshm_segment *segment, const bshm_key &key)
{
	bshm_error error;
	bshm_put put = {};
	put.key = key;
	put.value = {BSHM_VALUE_STRING, key.bytes, 8};
	return Done([&] { return bshm_record_put(segment, &put, &error); });
}

bool Remove(bshm_segment *segment, const bshm_key &key)
{
	bshm_error error;
	return Done([&] { return bshm_record_remove(segment, BSHM_SPACE_CACHE, &key, &error); });
}

bool IsValue(const bshm_found &found, const bshm_key &key)
{
	char value[8];
	return bshm_found_copy(&found, value) && memcmp(value, key.bytes, 8) == 0;
}

bool Get(bshm_segment *segment, const bshm_key &key)
{
	bshm_found found;
	return bshm_record_find(segment, BSHM_SPACE_CACHE, &key, BSHM_FIND_USE, &found) == 1 &&
		   IsValue(found, key);
}

bool GetAll(bshm_segment *segment, const List &list)
{
	bshm_found found[kList];
	bool present[kList];
	bshm_record_find_many(
		segment, BSHM_SPACE_CACHE, list.keys, list.count, BSHM_FIND_USE, found, present);
	bool good = true;
	for (unsigned k = 0; k < list.count; k++) {
		good = good && present[k] && IsValue(found[k], list.keys[k]);
	}
	return good;
}

template <typename Function>
bool ChangeAll(bshm_segment *segment, const List &list, Function change)
{
	bshm_records_prefetch(segment, BSHM_SPACE_CACHE, list.keys, list.count);
	bool good = true;
	for (unsigned k = 0; k < list.count; k++) {
		good = change(segment, list.keys[k]) && good;
	}
	return good;
}

bool WorkLists(
	bshm_segment *segment, unsigned operation, uint64_t first, uint64_t step, uint64_t end)
{
	List list;
	bool good = true;
	for (uint64_t i = first; i < end && good;) {
		list.Take(&i, step, end);
		good = operation == kGet20   ? GetAll(segment, list)
			   : operation == kSet20 ? ChangeAll(segment, list, Set)
									 : ChangeAll(segment, list, Remove);
	}
	return good;
}

bool WorkSingly(
	bshm_segment *segment, unsigned operation, uint64_t first, uint64_t step, uint64_t end)
{
	char bytes[8];
	const bshm_key key = {bytes, 8};
	bool good = true;
	for (uint64_t i = first; i < end && good; i += step) {
		MakeKey(i, bytes);
		good = operation == kSet      ? Set(segment, key)
			   : operation == kRemove ? Remove(segment, key)
									  : Get(segment, key);
	}
	return good;
}

void WorkStore(
	bshm_segment *segment, unsigned operation, uint64_t first, uint64_t step, uint64_t end)
{
	const bool lists = operation == kGet20 || operation == kSet20 || operation == kRemove20;
	if (!(lists ? WorkLists : WorkSingly)(segment, operation, first, step, end)) {
		fprintf(stderr, "%s failed\n", kNames[operation]);
		_exit(1);
	}
}

void Await(pid_t child)
{
	int status;
	if (waitpid(child, &status, 0) != child || status != 0) {
		fprintf(stderr, "a worker failed\n");
		exit(1);
	}
}

void MeasureStore(uint64_t records, unsigned workers, const char *path, Result *result)
{
	unlink(path);
	bshm_segment *segment = OpenStore(path, records);
	for (unsigned operation = 0; operation < kOperations; operation++) {
		if (operation == kSet20) { /* in a new one, as the first were */
			bshm_segment_close(segment);
			unlink(path);
			segment = OpenStore(path, records);
		}
		const double start = Now();
		std::vector<pid_t> children;
		for (unsigned w = 1; w < workers; w++) {
			const pid_t child = fork();
			if (child == 0) {
				WorkStore(segment, operation, w, workers, records);
				_exit(0);
			}
			children.push_back(child);
		}
		WorkStore(segment, operation, 0, workers, records);
		for (const pid_t child : children) {
			Await(child);
		}
		result->ns[operation][workers - 1] = (Now() - start) * 1e9 / static_cast<double>(records);
		if (operation == kSet) {
			bshm_store_info info;
			bshm_store_stat(segment, &info);
			if (info.records != records) {
				abort();
			}
			result->bytes = static_cast<double>(info.bytes_used) / static_cast<double>(records);
		}
	}
	bshm_segment_close(segment);
	unlink(path);
}

/* Runs a measurement in a process of its own, which leaves its result in shared memory. */
template <typename Function> void InChild(Function measure)
{
	const pid_t child = fork();
	if (child == 0) {
		measure();
		_exit(0);
	}
	Await(child);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: bench_records RECORDS SEGMENT\n");
		return 1;
	}
	const uint64_t records = strtoull(argv[1], nullptr, 10);
	auto *results = static_cast<Result *>(mmap(
		nullptr, sizeof(Result) * 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	for (unsigned workers = 1; workers <= 2; workers++) {
		InChild([&] { MeasureStore(records, workers, argv[2], &results[0]); });
		InChild([&] { MeasureTkrzw(records, workers, &results[1]); });
	}
	const char *const names[2] = {"store", "cachedbm"};
	for (unsigned who = 0; who < 2; who++) {
		printf("%s\"%s_bytes\": %.2f", who == 0 ? "{" : ", ", names[who], results[who].bytes);
		for (unsigned operation = 0; operation < kOperations; operation++) {
			for (unsigned workers = 0; workers < 2; workers++) {
				printf(", \"%s_%s_%u\": %.1f", names[who], kNames[operation], workers + 1,
					results[who].ns[operation][workers]);
			}
		}
	}
	printf("}\n");
	return 0;
}
