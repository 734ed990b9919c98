-- Makes a member known. Repeatable.
--
-- ARGV     1 member, 2 lease millis, 3 timeout millis, 4 description (JSON), 5 format version
-- result   {'OK'} or {'FORMAT', the group's format}
-- keeps    a group is read and written in one format only; a group that begins, perhaps because Redis was emptied,
--          hands nothing out for a lease, in which members claim what they hold
-- cost     O(log members)

local id, lease, timeout, description, format = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if group.format and group.format ~= format then
  return {'FORMAT', group.format}
end
if not group.format then
  setGroup('format', format)
  setGroup('history', text(math.max(1, nowMicros)))
  openClaims(tonumber(lease))
end
redis.call('HSET', MEMBERS, id, table.concat({'A', lease, timeout, description}, '|'))
redis.call('ZADD', SESSIONS, text(nowMillis + tonumber(lease)), id)
membershipChanged()
finish()
return {'OK'}
