-- Ends the sessions of dead members. A closed subscription shows death: the kernel closes the connections of a dead
-- process at once. It is checked only for members whose lease has ended, and not for those whose description says that
-- a proxy hides their subscription ("hidden":true); they get the time of slow ones.
--
-- ARGV     1 leader, 2 epoch, 3 time since which the leader's own heartbeats were answered without a gap (millis),
--          4 quiet period after a crash (millis), 5 most members and shards to end and free at once,
--          6 the current time by the leader's own clock (millis), 7 number of set-backs of the clock that the leader
--          knows
-- result   {'LOOKED', time of the next reap (millis) or 0, then per late member: DEAD|TIMEDOUT|SLOW, member}
--          or {'DEPOSED'}
-- keeps    no member is reaped before its lease has ended; a reaped member's next heartbeat is EXPIRED
-- cost     O(late members + shards freed * log shards)

writeBeforeWait(GROUP)

local steadySince, quietMillis, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local asOfMillis, setBacks = math.min(nowMillis, tonumber(ARGV[6])), tonumber(ARGV[7])
if not leads(ARGV[1], ARGV[2]) then
  return {'DEPOSED'}
end
-- Members that were heard while the clock was behind seem to have been silent since; the leader first has to learn of
-- the set-back, and starts its judgement over.
if setBacks ~= groupNumber('setBacks') then
  return {'LOOKED', '0'}
end

local reply, nextLook, done = {'LOOKED', '0'}, 0, 0

local function lookAgainAt(millis)
  if nextLook == 0 or millis < nextLook then
    nextLook = millis
  end
end

-- Returns nil for a member that may still come back.
local function verdict(id, known, leaseEnd)
  local silentSince = math.max(leaseEnd - known.lease, steadySince)
  if asOfMillis < silentSince + known.lease then
    lookAgainAt(silentSince + known.lease)
    return nil
  end
  -- A hidden subscription is never counted here, so its absence shows nothing.
  if not string.find(known.description, '"hidden":true', 1, true)
      and redis.call('PUBSUB', 'NUMSUB', channel(id))[2] == 0 then
    return 'DEAD'
  end
  if asOfMillis >= silentSince + known.timeout then
    return 'TIMEDOUT'
  end
  lookAgainAt(silentSince + known.timeout)
  return 'SLOW'
end

local late = redis.call('ZRANGEBYSCORE', SESSIONS, '-inf', text(asOfMillis), 'WITHSCORES')
for i = 1, #late, 2 do
  if done >= limit then
    lookAgainAt(asOfMillis)
    break
  end
  local id = late[i]
  local known = member(id)
  if not known and id ~= NO_ENTRY and tonumber(late[i + 1]) ~= 0 then
    recordUnreadable(SESSIONS, id, 'is of no member')
  end
  local judged = known and verdict(id, known, tonumber(late[i + 1]))
  if judged then
    reply[#reply + 1] = judged
    reply[#reply + 1] = id
  end
  if not known and id ~= NO_ENTRY or judged == 'DEAD' or judged == 'TIMEDOUT' then
    done = done + 1 + remove(id, limit - done, quietMillis)
    if known then
      membershipChanged()
    end
    if redis.call('ZSCORE', SESSIONS, id) then
      lookAgainAt(asOfMillis)
    end
  end
end
reply[2] = text(nextLook)
finish()
return reply
