-- Records that an entry cannot be read, so that the group is rebuilt with what members hold. Repeatable.
--
-- ARGV     1 S for an entry of :shards or M for one of :members, 2 the entry, 3 its value, '' for none
-- result   'OK', also when the entry has another value by now
-- keeps    an entry that was repaired since the caller read it does not break the group
-- cost     O(1)

local key, entry = ARGV[1] == 'S' and SHARDS or MEMBERS, ARGV[2]
local stored = redis.call('HGET', key, entry) or ''
-- As readers have got it.
local read = bounded(stored, ARGV[1] == 'S' and LONGEST_RECORD or LONGEST_DESCRIPTION)
if state == 'WHOLE' and read == ARGV[3] then
  writeAtMaxmemory('HDEL', GROUP)
  recordUnreadable(key, entry)
  finish()
end
return 'OK'
