-- Reads what has changed after a version.
--
-- ARGV     1 version of the last change that the reader knows, 0 to read all
-- result   {version of the last change of any parameter, '1' if these are all entries or '0', number of all entries, then
--          per entry: name, record}. Entries that only others can have written always follow
-- keeps    a reader that knows a higher version, because writes were lost, gets all
-- cost     O(parameters)

-- Entries, and bytes of each.
local MOST, LONGEST = 10000, 100000

local known = tonumber(ARGV[1])
local version = lastVersion()
local complete = known == 0 or known > version
local number = redis.call('HLEN', PARAMETERS)
if number > MOST then
  return redis.error_reply('ERR the key ' .. PARAMETERS .. ' has ' .. number .. ' entries, far more than belong there; ' ..
    'remove those that others have written with HDEL')
end
local reply = {text(version), complete and '1' or '0', text(number)}
local entries = redis.call('HGETALL', PARAMETERS)
for i = 1, #entries, 2 do
  local at = versionOf(entries[i + 1])
  if complete or not at or at > known then
    reply[#reply + 1] = beginning(entries[i])
    reply[#reply + 1] = bounded(entries[i + 1], LONGEST)
  end
end
return reply
