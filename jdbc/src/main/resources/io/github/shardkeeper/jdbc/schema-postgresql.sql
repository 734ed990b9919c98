create table if not exists shardkeeper_shard (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  token          bigint not null,
  commit_number  bigint not null,
  acquired_at    bigint not null,
  before_token   bigint not null,
  before_commit  bigint not null,
  offset_value   text,
  ahead          text,
  sought         bigint not null,
  seek_number    bigint,
  seek_after     text,
  seek_clears    smallint,
  completed      smallint not null,
  last_letter    bigint not null,
  committed_at   bigint not null,
  primary key (group_name, topic, shard_id)
);

create table if not exists shardkeeper_state (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  key_hash       varchar(64) not null,
  entry_key      text not null,
  entry_value    text not null,
  primary key (group_name, topic, shard_id, key_hash)
);

create table if not exists shardkeeper_timer (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  id_hash        varchar(64) not null,
  timer_key      text not null,
  timer_name     text not null,
  due_at         bigint not null,
  primary key (group_name, topic, shard_id, id_hash),
  unique (group_name, topic, shard_id, due_at, id_hash)
);

create table if not exists shardkeeper_retry (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  offset_hash    varchar(64) not null,
  offset_value   text not null,
  due_at         bigint not null,
  record_size    bigint not null,
  about          bytea not null,
  payload        bytea not null,
  primary key (group_name, topic, shard_id, offset_hash)
);

create table if not exists shardkeeper_dead_letter (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  letter_number  bigint not null,
  stored_at      bigint not null,
  offset_value   text not null,
  about          bytea not null,
  payload        bytea not null,
  primary key (group_name, topic, shard_id, letter_number)
);

create table if not exists shardkeeper_topic (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  consumed_since bigint not null,
  primary key (group_name, topic)
);

create table if not exists shardkeeper_outbox (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  place_token    bigint not null,
  place_number   bigint not null,
  target         varchar(310) not null,
  about          bytea not null,
  payload        bytea not null,
  primary key (group_name, topic, shard_id, place_token, place_number)
);

create table if not exists shardkeeper_sequence (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  target_hash    varchar(64) not null,
  target         varchar(310) not null,
  era            bigint not null,
  sent_number    bigint not null,
  place_token    bigint not null,
  place_number   bigint not null,
  primary key (group_name, topic, shard_id, target_hash)
);
