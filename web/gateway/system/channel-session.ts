const CHANNEL_SESSION = /^[^/]+\/(?:x-(?:dm-)?|telegram--?)\d/;

/** Whether a session key belongs to a session created by a channel (`placeOf`, channel-responder.ts): anybody may be writing in it. */
export const isChannelSession = (sessionKey: string): boolean => CHANNEL_SESSION.test(sessionKey);
