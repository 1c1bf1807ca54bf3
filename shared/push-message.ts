import type { PushAnswer } from './ports/push-port.ts';

/** A button of a push notification. */
export interface PushButton {
  /** Its label is in the language of the device. */
  kind: 'approve' | 'deny';
  /** What the service worker sends to `PUSH_ANSWER_PATH`. */
  value: PushAnswer['value'];
}

/** Decrypted content of a push message, as the service worker receives it. */
export interface PushMessage {
  kind: 'message' | 'approval' | 'test';
  /** Identifies the notification: another message with the same tag replaces it. */
  tag: string;
  /** If missing, the device shows a title for `kind` in its language. */
  title?: string;
  body: string;
  /** Path within the app that a click opens. */
  path: string;
  buttons?: PushButton[];
  /** Milliseconds since the Unix epoch after which the buttons have no effect. */
  expiresAt?: number;
  isShortened?: boolean;
}
