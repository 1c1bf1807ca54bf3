/** A button of a push notification. */
interface PushButton {
  /** Its label is in the language of the device. */
  kind: 'approve' | 'deny';
  /** Sent to `PUSH_ANSWER_PATH` when the button is pressed. */
  value: string;
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
  /** Sent to `PUSH_ANSWER_PATH` when the notification is shown, and when a click opens it. */
  receipts?: { shown: string; opened: string };
  /** Milliseconds since the Unix epoch after which the buttons have no effect. */
  expiresAt?: number;
  isShortened?: boolean;
}

const KINDS: readonly unknown[] = ['message', 'approval', 'test'] satisfies PushMessage['kind'][];

/** The message in a parsed push; undefined if it is none. No schema library: the service worker starts for each message. */
export function parsePushMessage(value: unknown): PushMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, tag, title, body, path, buttons, receipts } = value as Record<string, unknown>;
  if (!KINDS.includes(kind) || typeof tag !== 'string' || typeof body !== 'string') return undefined;
  // A path of this origin, whatever it resolves to.
  const isOwnPath = typeof path === 'string' && /^\/(?![/\\])/.test(path);
  return {
    ...{ kind: kind as PushMessage['kind'], tag, body, path: isOwnPath ? path : '/' },
    ...(typeof title === 'string' ? { title } : {}),
    ...(Array.isArray(buttons) ? { buttons: buttons.filter(isButton) } : {}),
    ...(isReceipts(receipts) ? { receipts } : {}),
  };
}

function isButton(value: unknown): value is PushButton {
  const { kind, value: answer } = (value ?? {}) as Record<string, unknown>;
  return (kind === 'approve' || kind === 'deny') && typeof answer === 'string';
}

function isReceipts(value: unknown): value is { shown: string; opened: string } {
  const { shown, opened } = (value ?? {}) as Record<string, unknown>;
  return typeof shown === 'string' && typeof opened === 'string';
}
