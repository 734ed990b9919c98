-- The owner gives a shard up: it goes straight to the target of its move, or to nobody. Repeatable.
--
-- ARGV     1 owner, 2 shard, 3 token, 4 token that the next one must exceed too ('0' normally)
-- result   'RELEASED' or 'STALE' when the member does not own the shard under that token
-- keeps    a token ends with its release
-- cost     O(log shards)

local id, released, token, floor = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local phase, current, owner, target = shard(released)
if owner ~= id or current ~= token then
  return 'STALE'
end
if floor > groupNumber('token') then
  redis.call('HSET', GROUP, 'token', text(floor))
end
takeFrom(id, released, phase, token, target)
sendNotifications()
return 'RELEASED'
