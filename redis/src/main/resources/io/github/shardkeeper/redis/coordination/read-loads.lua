-- Reads the load reports of the members, for the leader.
--
-- ARGV     1 version seen (the group's `loads`), 2 most reports in one reply
-- result   {version, version that the reports reach to, then per report: member, report}
-- keeps    a reader that continues from the returned version misses nothing
-- cost     O(reports in the reply), and their lengths: the caller asks for few

local seen, limit = ARGV[1], tonumber(ARGV[2])
if state ~= 'WHOLE' then
  return {'0', '0'}
end
writeAtMaxmemory('HDEL', GROUP)
local version = group.loads or '0'
local reported = redis.call('ZRANGEBYSCORE', REPORTED, '(' .. seen, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local reply, names = {version, version}, {}
for i = 1, #reported, 2 do
  names[#names + 1] = reported[i]
end
if #names > 0 then
  local reports = redis.call('HMGET', LOADS, unpack(names))
  local known = redis.call('HMGET', MEMBERS, unpack(names))
  for i, name in ipairs(names) do
    if reports[i] and known[i] and #reports[i] <= LONGEST_LOAD then
      reply[#reply + 1] = name
      reply[#reply + 1] = reports[i]
    else
      -- Not of a member, or none that a member has written.
      forgetLoad(name)
    end
  end
  if #names == limit then
    reply[2] = reported[#reported]
  end
end
return reply
