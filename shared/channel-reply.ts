/** Prefix of the tool of an approval that holds a reply on a channel; the id of the channel follows. */
export const CHANNEL_REPLY_PREFIX = 'channel_reply:';
