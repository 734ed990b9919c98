-- Sets or resets a parameter and tells all instances. Needs no session. Not repeatable: each call is a change.
--
-- ARGV     1 name, 2 flag|author|value as in the record, 3 version that it must have, 0 for none, or '' for any,
--          4 number of changes that the history keeps
-- result   {'CHANGED', version, time (millis)}; {'CONFLICT', its version, 0 for none, -1 if others have written it}
-- keeps    nobody's change is overwritten unseen, if a version is given
-- cost     O(log changes)
--
-- Gets through at `maxmemory`: a change may be what is needed then. Values and histories are bounded.

writeBeforeWait(GROUP)

local name, change, expected, kept = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local record = redis.call('HGET', PARAMETERS, name)
local current = record and (versionOf(record) or -1) or 0
if expected ~= '' and tonumber(expected) ~= current then
  return {'CONFLICT', text(current)}
end
local number = math.max(lastVersion() + 1, current + 1, nowMicros)
local version = text(number)
change = '|' .. text(nowMillis) .. '|' .. change
-- What may be refused for want of a right comes first: then nothing is changed.
tellAll('parameter|' .. name)
local first, last = '[' .. name .. '|', '[' .. name .. '|\255'
local dropped = redis.call('ZREVRANGEBYLEX', HISTORY, last, first, 'LIMIT', kept - 1, 1)
if dropped[1] then
  redis.call('ZREMRANGEBYLEX', HISTORY, first, '[' .. dropped[1])
end
redis.call('ZADD', HISTORY, 0, name .. '|' .. string.format('%016.0f', number) .. change)
redis.call('HSET', PARAMETERS, name, version .. change)
redis.call('HSET', CLUSTER, 'parameters', version)
return {'CHANGED', version, text(nowMillis)}
