-- Common beginning of every script of the cluster tools; ClusterScripts puts it before each of them.
--
-- KEYS     in the slot of the group:
--          1 <prefix>:{<group>}:group     hash  see control.lua; `token` is raised here, too
--          2 :members                     hash  see control.lua
--          3 :sessions                    zset  see control.lua
--          4 and following: those of the tool
--          <prefix>:{<group>}:cluster is the channel of messages for all instances, :cluster:<address> that of messages
--          for one. A message is `kind` or `kind|text`.
-- keeps    nothing is written for a session that the group does not know
--
-- The keys of the control plane are only read, except the counter of tokens.

local GROUP, MEMBERS, SESSIONS = KEYS[1], KEYS[2], KEYS[3]
local base = string.sub(GROUP, 1, -string.len(':group') - 1)

local time = redis.call('TIME')
local nowMicros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local nowMillis = math.floor(nowMicros / 1000)

-- Numbers up to 2^53 as text; Lua's own conversion would write them as 1.7e+15.
local function text(number)
  return string.format('%.0f', number)
end

-- Returns a whole number up to 2^53, in which Lua computes exactly; nil for any other text.
local function wholeNumber(value)
  local number = value and string.match(value, '^%d+$') and tonumber(value)
  return number and number <= 9007199254740991 and number or nil
end

local function isMember(id)
  return redis.call('HEXISTS', MEMBERS, id) == 1
end

-- Whether the group knows a session and its lease has not ended. A session that is gone has the score 0.
local function hasLease(id)
  return tonumber(redis.call('ZSCORE', SESSIONS, id) or '0') > nowMillis
end

local claims, lastToken

local function readGroup()
  local values = redis.call('HMGET', GROUP, 'claims', 'token')
  claims, lastToken = values[1] or '0', tonumber(values[2] or '0') or 0
end

-- Whether members may still claim what they held before a loss of writes: nobody gets anything new.
local function isInClaimPeriod()
  if not claims then
    readGroup()
  end
  return claims ~= '0'
end

-- Tokens never repeat, also after a failover or a flush: max(last + 1, time in microseconds).
local function nextToken()
  if not lastToken then
    readGroup()
  end
  lastToken = math.max(lastToken + 1, nowMicros)
  local token = text(lastToken)
  redis.call('HSET', GROUP, 'token', token)
  return token
end

local function tellAll(message)
  redis.call('PUBLISH', base .. ':cluster', message)
end

local function tell(address, message)
  redis.call('PUBLISH', base .. ':cluster:' .. address, message)
end
