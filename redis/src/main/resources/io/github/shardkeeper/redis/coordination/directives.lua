-- Common beginning of the scripts for directives: what operators want of the group.
--
-- KEYS     in the slot of the group:
--          1 <prefix>:{<group>}:group  hash  see control.lua; `directives`, the version of the last change
--          2 :members                  hash  see control.lua
--          3 :directives               hash  kind|subject -> a text that only members know; it has the version, the
--                         second of its parts between tabs. Need not exist
-- keeps    the version grows with every change, also after a loss of writes
--
-- The keys of the control plane are only read, except the version. All are declared, so that while Redis Cluster moves
-- the slot a node refuses the script instead of taking a key that has moved already for one that does not exist.

local GROUP, MEMBERS, DIRECTIVES = KEYS[1], KEYS[2], KEYS[3]
local base = string.sub(GROUP, 1, -string.len(':group') - 1)

-- Returns the number of directives; nil if others have put something else there.
local function count()
  local number = redis.pcall('HLEN', DIRECTIVES)
  if type(number) == 'table' then
    if string.find(number.err, 'WRONGTYPE', 1, true) then
      return nil
    end
    error(number.err)
  end
  return number
end

-- Returns the version of the last change; 0 before the first one, and for what others have written.
local function version()
  return tonumber(redis.call('HGET', GROUP, 'directives') or '0') or 0
end

-- Returns the new version and the time in millis.
local function raiseVersion()
  local time = redis.call('TIME')
  local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local number = string.format('%.0f', math.max(version() + 1, nowMillis))
  redis.call('HSET', GROUP, 'directives', number)
  return number, string.format('%.0f', nowMillis)
end

-- Has each member send a heartbeat, whose reply has the new version.
local function notifyMembers()
  for _, id in ipairs(redis.call('HKEYS', MEMBERS)) do
    redis.call('PUBLISH', base .. ':member:' .. id, '!')
  end
end
