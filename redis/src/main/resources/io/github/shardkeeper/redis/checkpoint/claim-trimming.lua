-- Claims the right to trim a topic for some time, and returns the groups that consume it.
--
-- KEYS     1 the topic's groups: set, 2 the group that trims: string, 3 basis of trimming: hash of server, the run id
--          of the Redis process; groups, their number; settling, time since which (millis) both are unchanged
-- ARGV     1 the group that wants to trim, 2 duration of the claim (millis), 3 time that groups have to register again
--          (millis)
-- result   {} when another group trims; otherwise {0 or 1, text, group, …}: 0 while groups that consume may be missing;
--          the text says why this cannot be known, '' if it can
-- keeps    after Redis may have forgotten a group (it was emptied, is another process since a restart or a failover, or
--          knows fewer groups), the reply is 0 until the groups had their time; also while Redis does not name its
--          process: a failover that loses a group may lose their number with it
-- memory   accepted at `maxmemory`: two keys per topic
-- cost     O(groups)

writeBeforeWait(KEYS[3])

local MOST_GROUPS = 10000

if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local found = redis.call('TYPE', KEYS[2]).ok
  if found ~= 'string' then
    return redis.error_reply('ERR the key ' .. KEYS[2] .. ' holds a ' .. found .. ', not the string that belongs there, ' ..
      'so nobody can trim the topic; move it away with RENAME or remove it with DEL')
  end
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
if #groups > MOST_GROUPS then
  return redis.error_reply('ERR the key ' .. KEYS[1] .. ' names ' .. #groups .. ' groups, far more than belong there; ' ..
    'remove it with DEL, then the groups that consume the topic register again')
end
local before = redis.call('HMGET', KEYS[3], 'server', 'groups', 'settling')
local settling = tonumber(before[3] or '')
if server == '' or before[1] ~= server or #groups < (tonumber(before[2] or '') or 0) or not settling
    or settling > now then
  settling = now
end
redis.call('HSET', KEYS[3], 'server', server, 'groups', #groups, 'settling', string.format('%.0f', settling))
return {server ~= '' and now - settling >= tonumber(ARGV[3]) and 1 or 0, unknown, unpack(groups)}
