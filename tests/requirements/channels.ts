import { chosen, specified } from './requirement.ts';

export const channels = [
  specified('interface 1, sections 2.2 and 4.1', {
    'channels/list':
      '`channels.list` merges channels that are connected with those that are only configured, with the fields of section 2.2.',
    'channels/status': '`channels.status` answers for one channel, by `channelId` or, as in section 4.2, `channel_id`.',
  }),
  specified('interface 1, section 4.2', {
    'channels/earlier': 'At protocol 2 `channels.list` is an array of `{id, type, status}`.',
  }),
  specified('interface 2, section 2.2', {
    'channels/social': 'The social channel’s settings have the types, defaults and least interval of section 2.2.',
  }),
  chosen('decisions, "Sessions, agents, models, channels, config"', {
    'channels/webchat': '`webchat` is always a channel at run time, with metrics.',
    'channels/catalog': '`channels.catalog` has all that could be configured, and says which can be started here.',
    'channels/secrets': 'Tokens of channels are kept apart from the configuration and read as `***`.',
  }),
];
