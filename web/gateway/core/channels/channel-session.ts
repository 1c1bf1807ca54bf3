const CHANNEL_SESSION = /^[^/]+\/(?:x-(?:dm-)?|telegram--?)\d/;

/** Whether a session, by its key, is one that a channel has begun (`placeOf`, answering.ts): whoever writes in it may be anybody. */
export const isChannelSession = (sessionKey: string): boolean => CHANNEL_SESSION.test(sessionKey);
