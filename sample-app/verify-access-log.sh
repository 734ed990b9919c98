#!/usr/bin/env bash
#
# Counts a real access log on three instances, kills one of them with SIGKILL and ends
# another with Ctrl-C while they count, and compares the result with what the shell counts:
#
#     sample-app/verify-access-log.sh access.log
#
# Prints EXACT and ends with status 0 when every client's count is right; prints the
# difference and ends with status 1 when not. Builds the sample first where its jar is
# missing. Needs bash, curl, and a JDK; brings its own Redis, and leaves nothing behind.
#
# SECONDS_TO_FEED (default 20) sets how long the feeding takes.

set -euo pipefail
# Each instance becomes a process group of its own, as in a terminal of its own.
set -m
export LC_ALL=C

usage() {
	sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

[[ $# -eq 1 ]] || usage
[[ -r $1 && -f $1 ]] || { echo "$1 is not a file that can be read" >&2; exit 2; }

log_file=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
home=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
wait_seconds=120
declare -A pids=() # web port -> process, which is also its process group

clean_up() {
	local status=$? pid
	trap '' INT TERM
	set +e
	for pid in "${pids[@]}"; do
		kill -KILL "$pid"
		wait "$pid"
	done 2>/dev/null
	# The keeper sees that no instance is left and stops Redis.
	[[ -z ${redis_port:-} ]] || within "the Redis has gone" redis_is_gone || status=1
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() {
	echo "[$(date +%T)] $*"
}

listens() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

free_port() {
	local port
	while port=$((20000 + RANDOM % 10000)); do
		listens "$port" || { echo "$port"; return; }
	done
}

redis_is_gone() {
	! listens "$redis_port"
}

# within TEXT COMMAND...: waits until the command succeeds.
within() {
	local text=$1 deadline=$((SECONDS + wait_seconds))
	shift
	until "$@"; do
		if ((SECONDS > deadline)); then
			echo "Gave up waiting until $text" >&2
			return 1
		fi
		sleep 0.2
	done
}

start() {
	java -jar "$jar" "--server.port=$1" "--sample.redis.port=$redis_port" "--sample.file=$log_file" \
		"--sample.lines-per-second=$lines_per_second" >>"$work/$1.log" 2>&1 &
	pids[$1]=$!
	say "instance on port $1 started (process $!)"
}

# stop SIGNAL PORT: Ctrl-C reaches the whole process group, kill -9 only the process.
stop() {
	local signal=$1 pid=${pids[$2]}
	say "instance on port $2 gets SIG$signal"
	if [[ $signal == INT ]]; then
		kill -INT -- "-$pid"
	else
		kill "-$signal" "$pid"
	fi
	wait "$pid" 2>/dev/null || true
	unset "pids[$2]"
}

running() {
	local port
	for port in "${!pids[@]}"; do
		kill -0 "${pids[$port]}" 2>/dev/null || {
			echo "The instance on port $port ended by itself:" >&2
			tail -n 30 "$work/$port.log" >&2
			exit 1
		}
	done
}

# get PATH: from whichever instance answers.
get() {
	local port
	for port in "${!pids[@]}"; do
		curl --silent --fail --max-time 5 "http://127.0.0.1:$port$1" && return
	done
	return 1
}

owners_are() {
	local report
	running
	report=$(get '/actuator/shards?limit=1000') || return 1
	[[ $report != *'"owner":null'* ]] || return 1
	[[ $(grep -o '"owner":"[^"]*"' <<<"$report" | sort -u | wc -l) -eq $1 ]]
}

counted() {
	get '/visits/top?limit=0' | sed 's/.*"lines":\([0-9]*\).*/\1/'
}

counted_at_least() {
	running
	[[ $(counted || echo 0) -ge $1 ]]
}

# The web port of the instance that owns the first shard, and therefore feeds.
feeding_port() {
	local port report
	for port in "${!pids[@]}"; do
		report=$(curl --silent --fail --max-time 5 "http://127.0.0.1:$port/actuator/shards?limit=1000") || continue
		if [[ $report =~ \"self\":\"([^\"]*)\" ]] &&
				[[ $(grep -o '"id":"0"[^}]*' <<<"$report") == *"\"owner\":\"${BASH_REMATCH[1]}\""* ]]; then
			echo "$port"
			return
		fi
	done
	return 1
}

jar=$(ls "$home"/sample-app/target/shardkeeper-sample-app-*.jar 2>/dev/null | head -n 1 || true)
if [[ -z $jar ]]; then
	say "building the sample"
	(cd "$home" && mvn -q -B -pl sample-app -am package -DskipTests)
	jar=$(ls "$home"/sample-app/target/shardkeeper-sample-app-*.jar | head -n 1)
fi

cut -d' ' -f1 "$log_file" | sort | uniq -c | awk '{ count = $1; sub(/^ *[0-9]+ /, ""); print count " " $0 }' |
	sort >"$work/expected"
lines=$(awk '{ lines += $1 } END { print lines + 0 }' "$work/expected")
lines_per_second=$((lines / ${SECONDS_TO_FEED:-20} + 1))
redis_port=$(free_port)

for _ in 1 2 3; do
	start "$(free_port)"
done
within "three instances share the shards" owners_are 3
say "three instances share the shards; $(counted) of $lines lines are counted"

within "a third of the lines is counted" counted_at_least $((lines / 3))
killed=$(feeding_port)
stop KILL "$killed"
within "two instances share the shards" owners_are 2
say "two instances share the shards; $(counted) of $lines lines are counted"

within "two thirds of the lines are counted" counted_at_least $((lines * 2 / 3))
interrupted=$(feeding_port)
stop INT "$interrupted"
start "$interrupted"

within "all lines are counted" counted_at_least "$lines"
within "the interrupted instance has shards again" owners_are 2
get /visits | sort >"$work/counted"

say "$(wc -l <"$work/counted") clients, $(awk '{ lines += $1 } END { print lines + 0 }' "$work/counted") lines"
if diff "$work/expected" "$work/counted"; then
	echo "EXACT"
else
	echo "The counts differ: < is what the log holds, > is what was counted" >&2
	exit 1
fi
