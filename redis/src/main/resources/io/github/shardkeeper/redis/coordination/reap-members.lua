-- Ends the sessions of members that are dead. A closed subscription tells death from slowness: the kernel closes a
-- dead process' connections at once. It is looked at only for members whose lease has ended, and not for those whose
-- description says that a proxy hides their subscription ("hidden":true): they are waited for like slow ones.
--
-- ARGV     1 leader, 2 epoch, 3 since when the leader's own heartbeats were answered without a gap (millis),
--          4 quiet period after a crash in millis, 5 most members and shards to end and free at once,
--          6 what the clock shows by the leader's own clock (millis), 7 how often the clock was set back as far as it knows
-- result   {'LOOKED', when to look again in millis or 0, then per late member: DEAD|TIMEDOUT|SLOW, member}
--          or {'DEPOSED'}
-- keeps    nobody is reaped before his lease ended; a reaped member's next heartbeat is EXPIRED
-- cost     O(late members + shards freed * log shards)

writeBeforeWait(GROUP)

local steadySince, quietMillis, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local asOfMillis, setBacks = math.min(nowMillis, tonumber(ARGV[6])), tonumber(ARGV[7])
if not leads(ARGV[1], ARGV[2]) then
  return {'DEPOSED'}
end
-- Who was heard while the clock was behind seems to have been silent ever since; the leader begins anew to judge when it
-- has heard of that.
if setBacks ~= groupNumber('setBacks') then
  return {'LOOKED', '0'}
end

local reply, nextLook, done = {'LOOKED', '0'}, 0, 0

local function lookAgainAt(millis)
  if nextLook == 0 or millis < nextLook then
    nextLook = millis
  end
end

-- nil for one that is to be left alone as yet.
local function verdict(id, known, leaseEnd)
  local silentSince = math.max(leaseEnd - known.lease, steadySince)
  if asOfMillis < silentSince + known.lease then
    lookAgainAt(silentSince + known.lease)
    return nil
  end
  -- Of a member that says that its subscription cannot be seen here, there being none says nothing.
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
