-- For tests, between data.lua and a script: what the test has asked for happens before the next page of a state is
-- read, once, or always.
-- Its third argument is the cursor.
local event = #ARGV == 3 and tonumber(ARGV[3]) and redis.call('GET', 'event:' .. KEYS[1])
if event then
  if not string.find(event, 'always') then
    redis.call('DEL', 'event:' .. KEYS[1])
  end
  if string.find(event, 'acquired') then
    redis.call('HINCRBY', CHECKPOINT, 'fence', 1)
  elseif string.find(event, 'fence lost') then
    redis.call('HSET', CHECKPOINT, 'fence', 1)
  elseif string.find(event, 'committed') then
    redis.call('HINCRBY', CHECKPOINT, 'commit', 1)
    redis.call('HSET', STATE, 'key-7', 'changed')
  elseif string.find(event, 'led astray') then
    return {'0', {}}
  elseif string.find(event, 'again') then
    return statePage('0')
  elseif string.find(event, 'error') then
    return redis.error_reply('ERR caused by the test')
  end
end
