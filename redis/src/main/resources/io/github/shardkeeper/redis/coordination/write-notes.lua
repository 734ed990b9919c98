-- Writes and removes texts for people. Nothing is decided by them, so they are not among the group's keys of control.lua.
--
-- KEYS     1 the hash, which need not exist
-- ARGV     name and text of each, '' for a text to remove
-- result   OK
-- memory   refused at `maxmemory`; repeated later
-- cost     O(texts)

for i = 1, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[i])
  else
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return 'OK'
