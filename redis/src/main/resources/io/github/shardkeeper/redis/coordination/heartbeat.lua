-- Renews a session, elects a leader when there is none or its lease has ended, and returns the member's changes.
--
-- ARGV     1 member, 2 history seen, 3 generation seen, 4 candidate ('1' or '0'), 5 most changes in one reply,
--          6 load report or '', 7 earliest time that the clock can show by the member's own clock (millis) or 0,
--          8 '1' to renew the session or '0' only to read, 9 longest lease of the group that the member knows (millis),
--          0 for none, 10 '1' to publish a message to the member itself, so that it finds out whether one arrives
-- result   {'EXPIRED', what is wrong with the group's keys, a sentence each}, or
--          {'ALIVE', now, leader, epoch, end of the leader's lease, earliest end of a lease, generation, membership,
--          generation that the changes reach to, history, writes lost ('1' or '0'), subscribed ('1' or '0'), earliest
--          end of the claim period or 0, number of load reports, number of set-backs of the clock, end of the member's
--          lease before this heartbeat, longest lease of the group, epoch in which problems were published, these
--          problems, version of the directives or 0, then per change: shard, generation, record}
--          (times in millis; leader '' and 0 without a leader)
-- keeps    the epoch grows with every leadership; no member is told anything in a history that was lost
-- cost     O(log members) when nothing changed, else O(changes); O(members) once after the clock was set back

-- Smaller steps are ignored.
local SET_BACK_MILLIS = 100

local id, seenHistory, seen = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local candidate, limit, load, renews = ARGV[4] == '1', tonumber(ARGV[5]), ARGV[6], ARGV[8] == '1'
local earliestMillis = tonumber(ARGV[7])
local self = state == 'WHOLE' and member(id)
if not self then
  if changedFields.unreadable then
    writeAtMaxmemory('HDEL', GROUP)
    finish()
  end
  return {'EXPIRED', unpack(faults)}
end
writeAtMaxmemory('HDEL', GROUP)
local remembered = tonumber(redis.call('ZSCORE', SESSIONS, id) or '0')

-- First shorten leases that were written before the clock was set back: they end later than a lease that begins now.
local setBackMillis = 0
while true do
  local last = redis.call('ZREVRANGE', SESSIONS, 0, 0, 'WITHSCORES')
  local known = last[1] and member(last[1])
  if not known or tonumber(last[2]) <= nowMillis + known.lease then
    break
  end
  setBackMillis = math.max(setBackMillis, tonumber(last[2]) - nowMillis - known.lease)
  redis.call('ZADD', SESSIONS, text(nowMillis + known.lease), last[1])
end
-- If the clock is set forward again, members that were heard meanwhile seem to have been silent since: `setBacks` makes
-- every leader start its judgement of silence over, also one that saw no step between two of its heartbeats.
-- A step back that is shorter than the time since the last heartbeat leaves no trace here; a member that knows a later
-- time reports it.
if setBackMillis >= SET_BACK_MILLIS or nowMillis < earliestMillis then
  count('setBacks')
end

-- A member that was told more than TOLD says has seen writes that are lost. The first one to show this begins a new
-- history, in which every member is told all of its shards again and may claim what it holds.
local told, history = tonumber(redis.call('HGET', TOLD, id) or '0') or 0, groupNumber('history')
if seenHistory ~= 0 and (seenHistory > history or seenHistory == history and seen > told) then
  setGroup('history', text(math.max(math.max(seenHistory, history) + 1, nowMicros)))
  setGroup('leader', '')
  openClaims(math.max(self.lease, tonumber(ARGV[9])))
end
local lost = seenHistory ~= 0 and seenHistory ~= groupNumber('history')
if lost then
  seen, told = 0, 0
end

-- The leader's lease is read before the member's own is renewed: a leader that was silent for a lease begins a new epoch
-- below, so that its earlier decisions are refused.
local leading = leader()
local leaseEnd = leading and tonumber(redis.call('ZSCORE', SESSIONS, leading) or '0') or 0
if renews then
  redis.call('ZADD', SESSIONS, text(nowMillis + self.lease), id)
end
if leading == id and not candidate then
  setGroup('leader', '')
  notifySuccessor(id)
  leading, leaseEnd = nil, 0
elseif leaseEnd <= nowMillis then
  leading, leaseEnd = nil, 0
  if candidate and renews then
    leading, leaseEnd = id, nowMillis + self.lease
    setGroup('leader', id)
    count('epoch')
  end
elseif leading == id and renews then
  leaseEnd = nowMillis + self.lease
end

if load ~= '' then
  redis.call('HSET', LOADS, id, load)
  redis.call('ZADD', REPORTED, count('loads'), id)
end

local earliest = redis.call('ZRANGEBYSCORE', SESSIONS, '0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local generation = group.generation or '0'
local reply = {'ALIVE', text(nowMillis), leading or '', group.epoch or '0', text(leaseEnd), earliest[2],
  generation, group.membership or '0', generation, group.history or '0', lost and '1' or '0',
  redis.call('PUBSUB', 'NUMSUB', channel(id))[2] > 0 and '1' or '0', text(claimsEnd()), group.loads or '0',
  group.setBacks or '0', text(remembered), group.longestLease or '0', group.problemsEpoch or '0', group.problems or '',
  group.directives or '0'}
local first, last = concernsAfter(id, seen)
local news = redis.call('ZRANGEBYLEX', CONCERNS, first, last, 'LIMIT', 0, limit)
if #news > 0 then
  local names, generations = {}, {}
  for i, entry in ipairs(news) do
    local number, name = string.match(entry, '^[^|]*|(%d+)|(.*)$')
    names[i], generations[i] = name, text(tonumber(number))
  end
  local records = redis.call('HMGET', SHARDS, unpack(names))
  for i, name in ipairs(names) do
    if not records[i] or #records[i] > LONGEST_RECORD then
      recordUnreadable(SHARDS, name)
    else
      reply[#reply + 1] = name
      reply[#reply + 1] = generations[i]
      reply[#reply + 1] = records[i]
    end
  end
  if #names == limit then
    reply[9] = generations[#names]
  end
end
if lost or tonumber(reply[9]) > told then
  redis.call('HSET', TOLD, id, reply[9])
end
finish()
if ARGV[10] == '1' then
  -- Nothing depends on it.
  redis.pcall('PUBLISH', channel(id), '=')
end
return reply
