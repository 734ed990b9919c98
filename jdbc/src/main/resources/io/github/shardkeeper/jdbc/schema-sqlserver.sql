create table shardkeeper_shard (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  token          bigint not null,
  commit_number  bigint not null,
  acquired_at    bigint not null,
  before_token   bigint not null,
  before_commit  bigint not null,
  offset_value   nvarchar(max),
  ahead          nvarchar(max),
  sought         bigint not null,
  seek_number    bigint,
  seek_after     nvarchar(max),
  seek_clears    smallint,
  completed      smallint not null,
  last_letter    bigint not null,
  committed_at   bigint not null,
  primary key (group_name, topic, shard_id)
);

create table shardkeeper_state (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  key_hash       nvarchar(64) collate Latin1_General_100_BIN2 not null,
  entry_key      nvarchar(max) not null,
  entry_value    nvarchar(max) not null,
  primary key (group_name, topic, shard_id, key_hash)
);

create table shardkeeper_timer (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  id_hash        nvarchar(64) collate Latin1_General_100_BIN2 not null,
  timer_key      nvarchar(max) not null,
  timer_name     nvarchar(max) not null,
  due_at         bigint not null,
  primary key (group_name, topic, shard_id, id_hash),
  unique (group_name, topic, shard_id, due_at, id_hash)
);

create table shardkeeper_retry (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  offset_hash    nvarchar(64) collate Latin1_General_100_BIN2 not null,
  offset_value   nvarchar(max) not null,
  due_at         bigint not null,
  record_size    bigint not null,
  about          varbinary(max) not null,
  payload        varbinary(max) not null,
  primary key (group_name, topic, shard_id, offset_hash)
);

create table shardkeeper_dead_letter (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  letter_number  bigint not null,
  stored_at      bigint not null,
  offset_value   nvarchar(max) not null,
  about          varbinary(max) not null,
  payload        varbinary(max) not null,
  primary key (group_name, topic, shard_id, letter_number)
);

create table shardkeeper_topic (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  consumed_since bigint not null,
  primary key (group_name, topic)
);

create table shardkeeper_outbox (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  place_token    bigint not null,
  place_number   bigint not null,
  target         nvarchar(310) collate Latin1_General_100_BIN2 not null,
  about          varbinary(max) not null,
  payload        varbinary(max) not null,
  primary key (group_name, topic, shard_id, place_token, place_number)
);

create table shardkeeper_sequence (
  group_name     nvarchar(100) collate Latin1_General_100_BIN2 not null,
  topic          nvarchar(100) collate Latin1_General_100_BIN2 not null,
  shard_id       nvarchar(200) collate Latin1_General_100_BIN2 not null,
  target_hash    nvarchar(64) collate Latin1_General_100_BIN2 not null,
  target         nvarchar(310) collate Latin1_General_100_BIN2 not null,
  era            bigint not null,
  sent_number    bigint not null,
  place_token    bigint not null,
  place_number   bigint not null,
  primary key (group_name, topic, shard_id, target_hash)
);
