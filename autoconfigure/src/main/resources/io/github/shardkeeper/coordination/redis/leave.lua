-- Announces that a member leaves, or ends its session. Repeatable.
--
-- ARGV     1 member, 2 ANNOUNCE (it keeps what it owns and gets nothing new) or END (it consumes nothing any more)
-- result   'OK', also for an unknown member
-- keeps    a leader resigns last
-- cost     ANNOUNCE O(1), END O(shards still owned)

local id, step = ARGV[1], ARGV[2]
local flag, lease, timeout, description = member(id)
if not flag then
  return 'OK'
end
if step == 'ANNOUNCE' then
  redis.call('HSET', MEMBERS, id, table.concat({'L', text(lease), text(timeout), description}, '|'))
  membershipChanged()
else
  redis.call('HDEL', MEMBERS, id)
  redis.call('ZREM', SESSIONS, id)
  if leader() == id then
    redis.call('HSET', GROUP, 'leader', '')
    -- Whoever is told first beats first and leads; the one heard from last is surely awake.
    notify(redis.call('ZREVRANGE', SESSIONS, 0, 0)[1])
  end
  for _, name in ipairs(redis.call('ZRANGE', ownedKey(id), 0, -1)) do
    local phase, token, owner, target = shard(name)
    takeFrom(id, name, phase, token, target)
  end
  membershipChanged()
end
sendNotifications()
return 'OK'
