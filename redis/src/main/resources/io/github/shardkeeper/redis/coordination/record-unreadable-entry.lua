-- Says that an entry cannot be read: the group begins again, with what members hold. Repeatable.
--
-- ARGV     1 S for an entry of :shards or M for one of :members, 2 the entry, 3 what it holds, '' for nothing
-- result   'OK', also when the entry holds something else by now
-- keeps    one that can be read is not touched by what was read earlier
-- cost     O(1)

local key, entry = ARGV[1] == 'S' and SHARDS or MEMBERS, ARGV[2]
if state == 'WHOLE' and (redis.call('HGET', key, entry) or '') == ARGV[3] then
  writeAtMaxmemory('HDEL', GROUP)
  recordUnreadable(key, entry)
  finish()
end
return 'OK'
