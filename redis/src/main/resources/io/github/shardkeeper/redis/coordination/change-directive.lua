-- Stores or removes a directive, and notifies all members. Repeatable.
--
-- ARGV     1 PUT or CLEAR, 2 name; to store also 3 most directives, 4 format, 5 instance or '', 6 person, 7 reason
-- result   {'CHANGED' or 'UNCHANGED', text before or ''}, {'FULL'}, {'UNKNOWN'} if there is no group, or {'WRONGTYPE'}
-- keeps    one directive of a name; the one that is stored later wins, unless both want the same. Followed by a WAIT:
--          nobody would notice that a failover has lost what an operator was told is done
--          Followed by a WAIT: nobody else would notice that a failover has lost what a person was told is done
-- memory   storing is refused at `maxmemory`, removing is not
-- cost     O(members)

local action, name = ARGV[1], ARGV[2]

local function clear()
  local before = redis.call('HGET', DIRECTIVES, name)
  if not before then
    return {'UNCHANGED', ''}
  end
  redis.call('HDEL', DIRECTIVES, name)
  raiseVersion()
  notifyMembers()
  return {'CHANGED', before}
end

local function put(number)
  local before = redis.call('HGET', DIRECTIVES, name)
  local format, to = ARGV[4], ARGV[5]
  local formatBefore, toBefore = string.match(before or '', '^(%d+)\t%d+\t%d+\t([^\t]*)\t')
  if formatBefore == format and toBefore == to then
    return {'UNCHANGED', before}
  end
  if not before and number >= tonumber(ARGV[3]) then
    return {'FULL'}
  end
  local now, nowMillis = raiseVersion()
  redis.call('HSET', DIRECTIVES, name, table.concat({format, now, nowMillis, to, ARGV[6], ARGV[7]}, '\t'))
  notifyMembers()
  return {'CHANGED', before or ''}
end

if action == 'CLEAR' then
  writeAtMaxmemory('HDEL', GROUP)
end
if redis.call('EXISTS', GROUP) == 0 then
  return {'UNKNOWN'}
end
local number = count()
if not number then
  return {'WRONGTYPE'}
end
local reply = action == 'CLEAR' and clear() or put(number)
-- Last, unlike elsewhere: after it, storing would be accepted at `maxmemory`.
writeBeforeWait(GROUP)
return reply
