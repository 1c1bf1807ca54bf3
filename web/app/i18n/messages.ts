/**
 * All messages of the app, as functions. Call them as `m.key()` while rendering: when a module is loaded they may still be English. A chunk
 * contains only the areas of the messages that its code names, so `m` is never used as a value.
 */
export * as m from '#messages/index.js';
