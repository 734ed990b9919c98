-- Announces that a member leaves, or ends its session. Repeatable.
--
-- ARGV     1 member, 2 ANNOUNCE (it keeps what it owns and gets nothing new) or END (it consumes nothing any more),
--          3 quiet period (millis), 4 most shards to free at once; the leader's next reap frees the rest
-- result   'OK', also for an unknown member
-- keeps    a leader resigns only when its session ends
-- cost     ANNOUNCE O(1), END O(shards freed * log shards)

writeBeforeWait(GROUP)

local id, step, quietMillis, limit = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local self = state == 'WHOLE' and member(id)
if not self then
  return 'OK'
end
if step == 'ANNOUNCE' then
  redis.call('HSET', MEMBERS, id, table.concat({'L', text(self.lease), text(self.timeout), self.description}, '|'))
else
  if leader() == id then
    setGroup('leader', '')
    notifySuccessor(id)
  end
  remove(id, limit, quietMillis)
end
membershipChanged()
finish()
return 'OK'
