-- Replaces a member's description, and notifies the leader. Repeatable.
--
-- ARGV     1 member, 2 description (JSON)
-- result   {'OK'} or {'UNKNOWN'}
-- keeps    flag, lease and timeout of the member; its session is not renewed
-- cost     O(1)

local id, description = ARGV[1], ARGV[2]
local known = state == 'WHOLE' and member(id)
if not known then
  return {'UNKNOWN'}
end
writeAtMaxmemory('HDEL', GROUP)
redis.call('HSET', MEMBERS, id, table.concat({known.flag, text(known.lease), text(known.timeout), description}, '|'))
membershipChanged()
finish()
return {'OK'}
