-- Claims the right to trim a topic for some time, and returns the groups that consume it.
--
-- KEYS     1 the topic's groups: set, 2 who trims: string, 3 what trimming goes by: hash of server, the run id of the
--          process of Redis; groups, how many there were; settling, since when (millis) both were as they are
-- ARGV     1 who wants to trim, 2 for how long nobody else does, in millis, 3 how long groups have to make themselves
--          known again, in millis
-- result   {} when somebody else trims; otherwise {0 or 1, text, group, ...}, 0 while groups may be missing that
--          consume; the text says why that cannot be known, '' where it can
-- keeps    where Redis may have forgotten a group, because it was emptied, is another process since a restart or a
--          failover, or knows fewer than before, nothing is settled before the groups had their time; nor while it does
--          not tell which process it is: a failover that loses a group may lose with it how many there were
-- memory   gets through at `maxmemory`: two keys per topic
-- cost     O(groups)

writeBeforeWait(KEYS[3])

if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local info = redis.pcall('INFO', 'server')
local server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local unknown = ''
if server == '' then
  unknown = type(info) == 'table' and info['err'] or 'it names no run_id'
end
local groups = redis.call('SMEMBERS', KEYS[1])
local before = redis.call('HMGET', KEYS[3], 'server', 'groups', 'settling')
local settling = tonumber(before[3] or '')
if server == '' or before[1] ~= server or #groups < (tonumber(before[2] or '') or 0) or not settling
    or settling > now then
  settling = now
end
redis.call('HSET', KEYS[3], 'server', server, 'groups', #groups, 'settling', string.format('%.0f', settling))
return {server ~= '' and now - settling >= tonumber(ARGV[3]) and 1 or 0, unknown, unpack(groups)}
