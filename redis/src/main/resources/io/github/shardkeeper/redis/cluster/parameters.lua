-- Common beginning of the scripts for parameters, after cluster.lua.
--
-- KEYS     4 :parameters        hash  name -> version|millis|flag|author|value. Flag V is a value, D the default, whose
--                               value is empty. In the author, % is %25 and | is %7C
--          5 :parameterHistory  zset  name|version, 16 digits|millis|flag|author|value; all with the score 0 and so in the
--                               order of their versions
--          6 :cluster           hash  `parameters`: version of the last change of any parameter; see read-view.lua
-- keeps    versions never repeat, also after a failover or a flush

local PARAMETERS, HISTORY, CLUSTER = KEYS[4], KEYS[5], KEYS[6]

local function lastVersion()
  return tonumber(redis.call('HGET', CLUSTER, 'parameters') or '0') or 0
end

-- Returns the version of a record; nil if only others can have written it.
local function versionOf(record)
  local version = string.match(record, '^(%d+)|%d+|[VD]|[^|]*|')
  return version and string.len(version) <= 16 and tonumber(version) or nil
end
