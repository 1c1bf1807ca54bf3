/** Id of a network voice: `<language>-<REGION>-<name>Neural`; some have a script or a dialect in between. */
export const VOICE_ID_PATTERN = /^[a-z]{2,3}(-[A-Z][a-z]{3})?-[A-Z]{2}(-[A-Za-z]+)*-[A-Za-z]+Neural$/;

/** A voice of the system’s speech engine: `system:<engine>:<voice>`. */
export const SYSTEM_VOICE_ID_PATTERN = /^system:[a-z-]+:[^\p{C}]+$/u;

export const DEFAULT_VOICE = 'en-US-AriaNeural';
