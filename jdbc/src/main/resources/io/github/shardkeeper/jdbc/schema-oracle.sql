create table shardkeeper_shard (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  token          number(19) not null,
  commit_number  number(19) not null,
  acquired_at    number(19) not null,
  before_token   number(19) not null,
  before_commit  number(19) not null,
  offset_value   clob,
  ahead          clob,
  sought         number(19) not null,
  seek_number    number(19),
  seek_after     clob,
  seek_clears    number(5),
  completed      number(5) not null,
  last_letter    number(19) not null,
  committed_at   number(19) not null,
  primary key (group_name, topic, shard_id)
);

create table shardkeeper_state (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  key_hash       varchar2(64 char) not null,
  entry_key      clob not null,
  entry_value    clob not null,
  primary key (group_name, topic, shard_id, key_hash)
);

create table shardkeeper_timer (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  id_hash        varchar2(64 char) not null,
  timer_key      clob not null,
  timer_name     clob not null,
  due_at         number(19) not null,
  primary key (group_name, topic, shard_id, id_hash),
  unique (group_name, topic, shard_id, due_at, id_hash)
);

create table shardkeeper_retry (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  offset_hash    varchar2(64 char) not null,
  offset_value   clob not null,
  due_at         number(19) not null,
  record_size    number(19) not null,
  about          blob not null,
  payload        blob,
  primary key (group_name, topic, shard_id, offset_hash)
);

create table shardkeeper_dead_letter (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  letter_number  number(19) not null,
  stored_at      number(19) not null,
  offset_value   clob not null,
  about          blob not null,
  payload        blob,
  primary key (group_name, topic, shard_id, letter_number)
);

create table shardkeeper_topic (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  consumed_since number(19) not null,
  primary key (group_name, topic)
);

create table shardkeeper_outbox (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  place_token    number(19) not null,
  place_number   number(19) not null,
  target         varchar2(310 char) not null,
  about          blob not null,
  payload        blob,
  primary key (group_name, topic, shard_id, place_token, place_number)
);

create table shardkeeper_sequence (
  group_name     varchar2(100 char) not null,
  topic          varchar2(100 char) not null,
  shard_id       varchar2(200 char) not null,
  target_hash    varchar2(64 char) not null,
  target         varchar2(310 char) not null,
  era            number(19) not null,
  sent_number    number(19) not null,
  place_token    number(19) not null,
  place_number   number(19) not null,
  primary key (group_name, topic, shard_id, target_hash)
);
