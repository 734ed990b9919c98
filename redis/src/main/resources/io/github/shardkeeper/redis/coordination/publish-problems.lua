-- Stores the problems of the group, which members receive with the replies to their heartbeats. Repeatable.
--
-- ARGV     1 leader, 2 epoch, 3 problems, in a format that only members know
-- result   {'PUBLISHED'} or {'DEPOSED'}
-- keeps    a former leader replaces nothing
-- cost     O(1)

if not leads(ARGV[1], ARGV[2]) then
  return {'DEPOSED'}
end
writeAtMaxmemory('HDEL', GROUP)
setGroup('problemsEpoch', ARGV[2])
setGroup('problems', ARGV[3])
finish()
return {'PUBLISHED'}
