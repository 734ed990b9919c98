-- Reads what has changed after a version.
--
-- ARGV     1 version of the last change that the reader knows, 0 to read all
-- result   {version of the last change of any parameter, '1' if these are all entries or '0', number of all entries, then
--          per entry: name, record}. Entries that only others can have written always follow
-- keeps    a reader that knows a higher version, because writes were lost, gets all
-- cost     O(parameters)

local known = tonumber(ARGV[1])
local version = lastVersion()
local complete = known == 0 or known > version
local reply = {text(version), complete and '1' or '0', text(redis.call('HLEN', PARAMETERS))}
local entries = redis.call('HGETALL', PARAMETERS)
for i = 1, #entries, 2 do
  local at = versionOf(entries[i + 1])
  if complete or not at or at > known then
    reply[#reply + 1] = entries[i]
    reply[#reply + 1] = entries[i + 1]
  end
end
return reply
