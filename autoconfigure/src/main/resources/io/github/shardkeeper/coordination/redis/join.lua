-- Makes a member known. Repeatable.
--
-- ARGV     1 member, 2 lease millis, 3 timeout millis, 4 description (JSON), 5 format version
-- result   {'OK'} or {'FORMAT', the group's format}
-- keeps    a group is read and written in one format only
-- cost     O(log members)

local id, lease, timeout, description, format = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local written = redis.call('HGET', GROUP, 'format')
if written and written ~= format then
  return {'FORMAT', written}
end
redis.call('HSET', GROUP, 'format', format)
redis.call('HSET', MEMBERS, id, table.concat({'A', lease, timeout, description}, '|'))
redis.call('ZADD', SESSIONS, text(nowMillis + tonumber(lease)), id)
membershipChanged()
sendNotifications()
return {'OK'}
