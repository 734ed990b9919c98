-- Removes requests that the leader has followed. Repeatable.
--
-- ARGV     1 leader, 2 epoch, then for each request 3 name, 4 its version
-- result   'DONE' or 'DEPOSED'
-- keeps    a request that has been replaced since, and those of a former leader
-- memory   accepted at `maxmemory`
-- cost     O(requests)

writeAtMaxmemory('HDEL', GROUP)
local values = redis.call('HMGET', GROUP, 'leader', 'epoch')
if values[1] ~= ARGV[1] or values[2] ~= ARGV[2] then
  return 'DEPOSED'
end
local removed = false
if count() then
  for i = 3, #ARGV, 2 do
    local stored = redis.call('HGET', DIRECTIVES, ARGV[i])
    if stored and string.match(stored, '^%d+\t(%d+)\t') == ARGV[i + 1] then
      redis.call('HDEL', DIRECTIVES, ARGV[i])
      removed = true
    end
  end
end
if removed then
  raiseVersion()
end
return 'DONE'
