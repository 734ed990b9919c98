-- Writes and removes texts for people. Nothing is decided by them, so they are not among the group's keys of control.lua.
--
-- KEYS     1 the hash, which need not exist
-- ARGV     1 ADD to leave texts that exist as they are, or REPLACE, 2 and more name and text of each, '' for a text to
--          remove
-- result   OK
-- memory   refused at `maxmemory`; repeated later
-- cost     O(texts)

for i = 2, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[i])
  elseif ARGV[1] == 'ADD' then
    redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
  else
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return 'OK'
