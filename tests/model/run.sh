#!/usr/bin/env bash
# Has spin look at every state of the models of the small protocols (each model's top says which
# code it mirrors, and what is proved); and proves that each can fail: with one step taken out or
# moved (-DBROKEN_...) spin finds the fault.
#
#   tests/model/run.sh [MODEL...]     all models, or only the ones named
set -euo pipefail
. "$(dirname "$0")/../../script/lib.sh"

need_packages spin gcc libc6-dev

models=(lookup publish add_rebuild merge grow lock lease quota rest parked)
[[ $# -eq 0 ]] || models=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
megabytes=3000
export "${huge_pages?}" # for the table of states, too
seconds=1800

# verify MODEL WANTED [DEFINE...]: sets `output` and `states`; its status is 0 if spin looked at
# every state and found nothing (WANTED none), an assertion that fails (assertion), or that somebody
# waits for ever (cycle). -DPATIENT in the place of the first DEFINE: progress is looked at too.
verify() {
	local model=$1 wanted=$2 dir=$work/$1.run status=0 build=(-DSAFETY) search=() optimize=-O0
	shift 2
	local defines=("${@/#/-D}")
	if [[ ${1-} == PATIENT ]]; then
		build=(-DNP -DNFAIR=3) search=(-l -f)
	fi
	if [[ $wanted == assertion ]]; then
		build+=(-DREVERSE -DT_REVERSE) # in this order most faults are found soon
	elif [[ $model != parked ]]; then
		optimize=-O2 # worth its time only where there are millions of states
	fi
	rm -rf "$dir" && mkdir "$dir" && cp "tests/model/$model.pml" "$dir"
	output=$work/$model.output states=0
	(
		cd "$dir"
		spin -a "${defines[@]}" "$model.pml" &&
			gcc "$optimize" -w "${build[@]}" "-DMEMLIM=$megabytes" -o pan pan.c &&
			timeout "$seconds" ./pan -m100000 -w24 -n "${search[@]}"
	) >"$output" 2>&1 || status=$?
	states=$(sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' "$output")
	states=${states:-0}
	[[ $status -eq 0 ]] || return 1
	case $wanted in
		none) grep -q 'errors: 0$' "$output" &&
			! grep -qE 'not completed|too small|truncated' "$output" ;;
		assertion) grep -q '^pan:1: assertion violated' "$output" ;;
		cycle) grep -q '^pan:1: non-progress cycle' "$output" ;;
	esac
}

# report NAME COMMAND...
report() {
	local name=$1 started=$SECONDS
	shift
	if "$@"; then
		printf 'ok - %s (%d states, %d s)\n' "$name" "$states" $((SECONDS - started))
	else
		printf 'not ok - %s (%d states, %d s)\n' "$name" "$states" $((SECONDS - started))
		grep -E 'pan|error' "$output" | head -n 10 | sed 's/^/    /'
	fi
}

# holds MODEL WHAT [DEFINE...]
holds() {
	local model=$1 what=$2
	shift 2
	report "$model.pml: $what" verify "$model" none "$@"
}

# fails MODEL WHAT DEFINE...: a fault is found.
fails() {
	local model=$1 what=$2 wanted=assertion
	shift 2
	[[ $1 != PATIENT ]] || wanted=cycle
	report "$model.pml: $what: a violation is found" verify "$model" "$wanted" "$@"
}

model_publish() {
	holds publish 'no wrong no, no mixed view, no leak'
	fails publish 'the generation stored before the descriptor' BROKEN_GENERATION_FIRST
	fails publish 'bits set after the publication' BROKEN_BITS_LATE
	fails publish 'the descriptor in force written over' BROKEN_IN_PLACE
	fails publish 'no second look after the bits' BROKEN_NO_RECHECK
	fails publish 'no second look after the descriptor' BROKEN_NO_SECOND_LOOK
	fails publish 'partitions given out without a look at claims' BROKEN_NO_CLAIM
	fails publish 'ops of the dead not reaped' BROKEN_NO_REAP
}

model_add_rebuild() {
	holds add_rebuild 'an add that returned is in every set from then on'
	holds add_rebuild 'the same beside a reservation' RESERVE
	fails add_rebuild 'the generation looked at before the builders' BROKEN_GENERATION_FIRST
	fails add_rebuild 'no look at the generation after the bits' BROKEN_NO_RECHECK
	fails add_rebuild 'the adder does not write to both sets' BROKEN_NO_JOURNAL
	fails add_rebuild 'the loader registers after it has read the catalogue' BROKEN_REGISTER_LATE
	fails add_rebuild 'the journal applied under another lock than the publication' \
		BROKEN_JOURNAL_EARLY
	fails add_rebuild 'the flag taken away while another loads' BROKEN_TIDY
	fails add_rebuild 'an add that finds no set says that the key is kept' RESERVE BROKEN_NO_SET
}

model_merge() {
	holds merge 'calls have an order, and an add that returned is in every union'
	holds merge 'the same with two unions' TWO
	fails merge 'the target not compared when it is published' BROKEN_NO_TARGET
	fails merge 'the same with two unions' TWO BROKEN_NO_TARGET
	fails merge 'not compared where nothing stood' BROKEN_NOTHING_STOOD
	fails merge 'the source not compared' BROKEN_NO_SOURCE
	fails merge 'compared under another hold of the lock' BROKEN_COMPARE_EARLY
	fails merge 'a number that comes again' BROKEN_NUMBER_AGAIN
	fails merge 'read before the op was registered' BROKEN_READ_EARLY
	fails merge 'the op of an attempt ended with what it had promised' BROKEN_PROMISE
}

model_grow() {
	holds grow 'no key lost, one layer for a full one, no leak'
	fails grow 'published though the generation has moved' BROKEN_NO_CURRENT
	fails grow 'partitions given out without a look at claims' BROKEN_NO_CLAIM
	fails grow 'a layer zeroed after it was published' BROKEN_ZERO_LATE
	fails grow 'ops of the stopped ended' BROKEN_REAP_LIVING
	fails grow 'ops of the dead not reaped' BROKEN_NO_REAP
}

model_lock() {
	holds lock 'one inside, and what the dead left is mended first'
	holds lock 'the same for a shard' SHARD
	holds lock 'the same where a process loses its slot' LOSES
	holds lock 'nobody waits for ever' PATIENT
	fails lock 'taken over without a compare-and-swap' BROKEN_NO_CAS
	fails lock 'freed first, then taken' BROKEN_FREE_FIRST
	fails lock 'taken over from the living' BROKEN_IMPATIENT
	fails lock 'nothing keeps the threads of a process apart' BROKEN_NO_BUSY
	fails lock 'a lost slot not noticed' LOSES BROKEN_NO_LOOK
	fails lock "another file's answer believed" BROKEN_ANY_ANSWER
	fails lock "the slot's generation not compared" PATIENT BROKEN_NO_GENERATION
	fails lock 'one that waits behind the dead never starves' PATIENT BROKEN_MEEK
}

model_quota() {
	holds quota 'never above the limit, and a limit of n holds n'
	holds quota 'the same with three processes' THREE
	fails quota 'nobody is asked for what he has to spare' BROKEN_NO_COLLECT
	fails quota 'nobody says that he has some' BROKEN_NO_ANNOUNCE
	fails quota 'given back before the spare is lower' BROKEN_BACK_FIRST
	fails quota 'spares not counted after a death' BROKEN_COUNT_RECORDS
	fails quota 'the note of a death taken away before the locks are held' THREE \
		BROKEN_RECOUNT_EARLY
}

model_lookup() {
	holds lookup 'values are whole and in force, and a record that stands is found'
	holds lookup 'the same where a full line has passed the record on' FAR DEATHS=0
	holds lookup 'the same where a slot is used again and again' REUSE OPS=4 DEATHS=0
	holds lookup 'the same for a large record' LARGE OPS=3
	holds lookup 'the same with more changes' LARGE OPS=4 DEATHS=0
	fails lookup 'no second look after the copy' BROKEN_NO_SECOND_LOOK
	fails lookup 'the state not compared' BROKEN_NO_STATE
	fails lookup 'a slot used again with its old version' BROKEN_NO_VERSION
	fails lookup 'the sequence not compared' REUSE OPS=3 BROKEN_NO_SEQUENCE
	fails lookup 'a version that moves before the free is counted' REUSE BROKEN_VERSION_FIRST
	fails lookup 'a slot that is not live taken for an absent record' BROKEN_NO_ASTRAY
	fails lookup 'no last look before "absent"' BROKEN_NO_LAST_LOOK
	fails lookup '"absent" by a state that came back' REUSE OPS=4 BROKEN_ABSENT_LATE
	fails lookup 'a slot that is live before it is taken' REUSE BROKEN_LIVE_EARLY
	fails lookup 'a slot freed before the record is replaced' BROKEN_FREE_FIRST
	fails lookup 'passed on before that is counted' FAR DEATHS=0 BROKEN_ENTER_LATE
	fails lookup 'memory that gets another meaning without a jump' BROKEN_NO_JUMP
	fails lookup 'new lines in force before they are filled' BROKEN_SHAPE_FIRST
	fails lookup 'a slot taken before the intent names it' BROKEN_TAKE_FIRST
	fails lookup 'a lock taken over without a repair' BROKEN_NO_REPAIR
	fails lookup 'a repair that gives lines up without a jump' BROKEN_REPAIR_NO_JUMP
	fails lookup 'a repair that undoes what is published' BROKEN_UNDO_DONE
	fails lookup 'a chunk moved without a jump' LARGE BROKEN_NO_JUMP
	fails lookup "a record's first slot freed before its chunks" LARGE BROKEN_FIRST_SLOT_FIRST
	fails lookup 'the serial not compared' LARGE OPS=4 DEATHS=0 BROKEN_NO_SERIAL
	fails lookup 'the serial of a moved record kept' LARGE OPS=4 DEATHS=0 BROKEN_OLD_SERIAL
	fails lookup 'no second look at the places of the chunks' LARGE OPS=4 DEATHS=0 BROKEN_NO_PLACES
	fails lookup 'a chunk that comes back to its place' LARGE OPS=3 BROKEN_NO_MOVED
	fails lookup 'no look at the places after a part was copied again' LARGE OPS=4 DEATHS=0 \
		BROKEN_NO_LAST_WALK
	fails lookup 'the index not asked again' LARGE OPS=3 DEATHS=0 BROKEN_NO_INDEX
	fails lookup 'the first slot not looked at again before the chunks' LARGE OPS=4 DEATHS=0 \
		BROKEN_HEAD_UNCHECKED
}

model_rest() {
	holds rest 'what is believed has all that was confirmed'
	fails rest 'the mark taken away without a sync' BROKEN_NO_SYNC
	fails rest 'awake before the sync: a death between the two' BROKEN_NO_WAKING
	fails rest 'the mark stored before the contents are synced' BROKEN_MARK_FIRST
	fails rest 'brought to rest while another uses it' BROKEN_NOT_ALONE
	fails rest 'no second look when others were there' BROKEN_NO_SECOND_LOOK
	fails rest 'marked without a new sync after another had used it' BROKEN_NOT_ANEW
	fails rest 'two leave at once, and each leaves it to the other' BROKEN_NO_LAST_LOOK
	fails rest 'synced anew though it was marked already' BROKEN_NO_FIRST_LOOK
	fails rest 'used without a word to the process that syncs it' BROKEN_UNSEEN
	fails rest 'the lock shared though nobody was seen to share it' BROKEN_NO_WITNESS
}

model_lease() {
	holds lease 'one loads, and no forgotten record comes back'
	holds lease 'nothing loaded takes the place of what was stored meanwhile' WRITER
	holds lease 'nobody waits for ever' PATIENT
	fails lease 'taken from the living' BROKEN_TAKE_LIVING
	fails lease 'an add does not end it' BROKEN_NO_SPOIL
	fails lease 'counted after the backend was asked' BROKEN_COUNT_LATE
	fails lease 'not counted any more before the record is there' BROKEN_UNCOUNTED_FIRST
	fails lease 'the record put after it was given back' BROKEN_PUT_LATE
	fails lease 'a write does not end it' WRITER BROKEN_WRITE_ALONE
	fails lease 'a write ends one of two' WRITER BROKEN_END_ONE
	fails lease 'stored though it has ended' WRITER BROKEN_NO_GRANT
	fails lease 'stored without a lease' WRITER BROKEN_KEEP_UNLEASED
	fails lease 'a death in the middle of a write leaves it' WRITER BROKEN_NO_REPAIR
	fails lease 'the dead taken for alive' PATIENT BROKEN_NO_PROBE
}

model_parked() {
	holds parked 'chunks are kept while they are filled, and none leaks'
	fails parked 'freed while a living process fills them' BROKEN_RECLAIM_LIVING
	fails parked 'a chunk taken before a word leads to it' BROKEN_TAKE_FIRST
	fails parked 'given away before the intent names them' BROKEN_HAND_OVER_EARLY
	fails parked 'not given away: freed with the record in the index' BROKEN_NO_HAND_OVER
	fails parked 'not freed before a process that takes over takes others' BROKEN_NO_RECLAIM
	fails parked 'not given up by a process that did not get the lock' BROKEN_KEPT
}

for model in "${models[@]}"; do
	declare -F "model_$model" >/dev/null || die "there is no model $model"
	"model_$model" >"$work/$model.said" 2>&1 & # together they need less than 2 GB
done
wait
for model in "${models[@]}"; do
	cat "$work/$model.said"
done | tee "$work/said"
passed=$(grep -c '^ok ' "$work/said" || true)
failed=$(grep -c '^not ok ' "$work/said" || true)
printf '%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
