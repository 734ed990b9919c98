-- Ends the sessions of members that are dead. A closed subscription tells death from slowness: the kernel closes a
-- dead process' connections at once. It is looked at only for members whose lease has ended.
--
-- ARGV     1 leader, 2 epoch, 3 since when the leader's own heartbeats were answered without a gap (millis),
--          4 most shards to free at once
-- result   {'LOOKED', when to look again in millis or 0, then per late member: DEAD|TIMEDOUT|SLOW, member}
--          or {'DEPOSED'}
-- keeps    nobody is reaped before his lease ended; a reaped member's next heartbeat is EXPIRED
-- cost     O(late members + shards freed)

local steadySince, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
if not leads(ARGV[1], ARGV[2]) then
  return {'DEPOSED'}
end

local reply, nextLook, freed = {'LOOKED', '0'}, 0, 0

local function lookAgainAt(millis)
  if nextLook == 0 or millis < nextLook then
    nextLook = millis
  end
end

-- Frees the shards of a member that is no longer known; the rest waits for the next look.
local function free(id)
  local owned = redis.call('ZRANGE', ownedKey(id), 0, limit - freed - 1)
  for _, name in ipairs(owned) do
    local phase, token, owner, target = shard(name)
    takeFrom(id, name, phase, token, target)
  end
  freed = freed + #owned
  if redis.call('ZCARD', ownedKey(id)) == 0 then
    redis.call('ZREM', SESSIONS, id)
  else
    redis.call('ZADD', SESSIONS, 0, id)
    lookAgainAt(nowMillis)
  end
end

local late = redis.call('ZRANGEBYSCORE', SESSIONS, '-inf', text(nowMillis), 'WITHSCORES')
for i = 1, #late, 2 do
  local id, leaseEnd = late[i], tonumber(late[i + 1])
  local flag, lease, timeout = member(id)
  local verdict = nil
  if flag then
    local silentSince = math.max(leaseEnd - lease, steadySince)
    if nowMillis < silentSince + lease then
      lookAgainAt(silentSince + lease)
    elseif redis.call('PUBSUB', 'NUMSUB', base .. ':member:' .. id)[2] == 0 then
      verdict = 'DEAD'
    elseif nowMillis >= silentSince + timeout then
      verdict = 'TIMEDOUT'
    else
      reply[#reply + 1] = 'SLOW'
      reply[#reply + 1] = id
      lookAgainAt(silentSince + timeout)
    end
  end
  if verdict then
    reply[#reply + 1] = verdict
    reply[#reply + 1] = id
    redis.call('HDEL', MEMBERS, id)
    membershipChanged()
  end
  if verdict or not flag then
    if freed < limit then
      free(id)
    else
      redis.call('ZADD', SESSIONS, 0, id)
      lookAgainAt(nowMillis)
    end
  end
end
reply[2] = text(nextLook)
sendNotifications()
return reply
