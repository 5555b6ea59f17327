#!/usr/bin/env bash
# Real services, started here and stopped again: a PostgreSQL session that keeps a lock for 5 s while
# others wait, and a Redis server busy with one slow command while a client waits for its answer.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "services" "recording needs root and the program"
	exit 0
fi
dir=$(mktemp -d)
chmod 755 "$dir"
cd "$dir" || exit 1
pg= redis=
cleanup() {
	[ -z "$pg" ] || runuser -u postgres -- "$pg/pg_ctl" -D "$dir/pg/data" -m immediate -s stop >/dev/null 2>&1
	[ -z "$redis" ] || { kill "$redis" && wait "$redis"; } 2>/dev/null
	cd / && rm -rf "$dir"
}
trap cleanup EXIT
# The top finding of FILE: victim among VICTIMS, culprit CULPRIT, at least SECONDS long. With `-a` the
# first in whose chain a victim is: the machine has other stalls, and the victims have clients.
top_is() { # FILE VICTIMS CULPRIT KINDS SECONDS [-a]
	"$TARRY" report "$1" --json >top.json 2>top.err || { sed 's/^/# /' top.err; return 1; }
	python3 - "${@:2}" <<'P'
import json, sys
victims, culprit, kinds, least, *everybody = sys.argv[1:]
s = json.load(open("top.json"))["stalls"]
if everybody:
    s = [x for x in s if any(str(hop["tid"]) in victims.split() for hop in x["chain"])]
    victims = ""
for x in s[:4]:
    print(f"# {x['rank']}: {x['sentence']} [{x['cause']['kind']}, {x['cause']['comm']}/{x['cause']['tid']}]")
t = s[0]
assert not victims or str(t["tid"]) in victims.split(), f"victim {t['tid']}, not of {victims}"
assert t["cause"]["tid"] == int(culprit), f"culprit {t['cause']['tid']}, not {culprit}"
assert t["cause"]["kind"] in kinds.split(), t["cause"]["kind"]
assert t["duration_ns"] >= float(least) * 1e9, t["duration_ns"]
P
}

# -p: the first process of the server; before: recorded from when the others wait on.
postgres() { # STATEMENT NAME -p|-a [before]
	local what="PostgreSQL: the top stall names the backend that held the lock" b p rec holder i w=() who=() everybody=() keeps="select pg_sleep(5)"
	b=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
	[ -x "$b/initdb" ] && id postgres >/dev/null 2>&1 || { skip "$what" "PostgreSQL is not installed"; return; }
	install -d -o postgres pg
	p="runuser -u postgres --"
	$p "$b/initdb" -D "$dir/pg/data" --no-sync -A trust >pg.log 2>&1 || { not_ok "$what"; sed 's/^/# /' pg.log; return; }
	pg=$b
	$p "$b/pg_ctl" -D "$dir/pg/data" -s -w -l "$dir/pg/log" -o "-c listen_addresses= -c unix_socket_directories=$dir/pg -c fsync=off" start ||
		{ not_ok "$what"; sed 's/^/# /' pg/log; return; }
	sql() { "$b/psql" -h "$dir/pg" -U postgres -X -q -A -t "$@" postgres; }
	waiting() { [ "$(sql -c "select count(*) from pg_stat_activity where wait_event_type = 'Lock'")" = 2 ]; }
	sql -c "create table t(k int primary key, v int); insert into t select g, 0 from generate_series(1, 9) g"
	who=(-p "$(head -n 1 pg/data/postmaster.pid)")
	[ "$3" = -p ] || who=(-a) everybody=(-a)
	[ $# -le 3 ] || keeps="do 'begin while pg_stat_file(''$dir/go'', true) is null loop perform pg_sleep(0.5); end loop; end'"
	attach() {
		"$TARRY" record -q -o pg.dat "${who[@]}" --duration 60s >rec.log 2>&1 &
		rec=$!
		await 60 tracing $rec
		sleep 0.3
	}
	[ $# -gt 3 ] || attach
	rm -f holder.txt go
	# The holder tells its backend's process id when it has the lock, and keeps it.
	sql -c "begin" -c "$1" -c "select pg_backend_pid()" -c "$keeps" -c "commit" >holder.txt &
	i=$!
	await 60 test -s holder.txt
	holder=$(head -n 1 holder.txt)
	sql -c "select pg_backend_pid()" -c "update t set v = v + 1 where k = 1" >w1.txt &
	w+=($!)
	sql -c "select pg_backend_pid()" -c "update t set v = v + 1 where k = 1" >w2.txt &
	w+=($!)
	if [ $# -gt 3 ]; then
		await 60 waiting
		attach
		sleep 2
		touch go
	fi
	wait $i "${w[@]}"
	kill -INT $rec
	wait $rec || { not_ok "$what"; sed 's/^/# /' rec.log; return; }
	runuser -u postgres -- "$b/pg_ctl" -D "$dir/pg/data" -m fast -s stop && pg=
	rm -rf pg
	if top_is pg.dat "$(cat w1.txt w2.txt | tr '\n' ' ')" "$holder" "lock socket signal thread" 1.5 "${everybody[@]}"; then
		ok "$what ($2)"
	else
		not_ok "$what ($2)"
	fi
}

redis() { # COMMAND... that is slow
	local what="Redis: the client's stall names the server" port busy rec
	command -v redis-server >/dev/null && command -v redis-cli >/dev/null || { skip "$what" "Redis is not installed"; return; }
	port=$((20000 + RANDOM % 10000))
	redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no --dir "$dir" --daemonize no \
		--enable-debug-command yes --busy-reply-threshold 60000 >redis.log 2>&1 &
	redis=$!
	await 60 redis-cli -p $port ping || { not_ok "$what"; sed 's/^/# /' redis.log; return; }
	redis-cli -p $port set key value >/dev/null
	# The server becomes busy when the recorder has begun, however long that takes.
	rm -f up go
	"$TARRY" record -q -o redis.dat -- sh -c ': >up; until [ -e go ]; do sleep 0.02; done; exec redis-cli -p $0 get key' $port >got.txt 2>&1 &
	rec=$!
	await 60 test -e up
	redis-cli -p $port "$@" >/dev/null 2>&1 &
	busy=$!
	sleep 0.3
	: >go
	wait $rec
	if grep -q value got.txt && top_is redis.dat "$("$TARRY" report redis.dat --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["machine"]["command_tid"])')" "$redis" "socket" 0.3; then
		ok "$what ($1)"
	else
		not_ok "$what ($1)"
		sed 's/^/# /' got.txt | tail -n 3
	fi
	wait $busy
	kill $redis
	wait $redis 2>/dev/null
	redis=
}

postgres "update t set v = v where k = 1" "row" -p
postgres "lock table t in access exclusive mode" "table, since before" -p before
# Recorded with everything else, where the sessions' clients are seen waiting, too.
postgres "lock table t in access exclusive mode" "table, -a, since before" -a before
redis debug sleep 3
redis eval "local i = 0 while i < 300000000 do i = i + 1 end return i" 0
echo "1..$n"
