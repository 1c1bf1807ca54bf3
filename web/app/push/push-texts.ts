/** Texts of push notifications in the language of the app. The service worker has no messages, so pages store them for it. */
export interface PushTexts {
  /** Titles. */
  approval: string;
  message: string;
  test: string;
  /** Text of a test notification. */
  testBody: string;
  /** Buttons. */
  approve: string;
  deny: string;
  /** Results of a button. */
  closed: string;
  unreachable: string;
}

const FALLBACK: PushTexts = {
  approval: 'Approval needed',
  message: 'Perch',
  test: 'Perch',
  testBody: 'Push notifications work on this device.',
  approve: 'Allow once',
  deny: 'Deny',
  closed: 'This request is no longer open.',
  unreachable: 'Perch can’t be reached. Open it to decide.',
};

const CACHE = 'perch-push';
const KEY = '/push/texts';

export async function storePushTexts(texts: PushTexts): Promise<void> {
  await (await caches.open(CACHE)).put(KEY, new Response(JSON.stringify(texts)));
}

/** The stored texts; English ones if there are none. */
export async function readPushTexts(): Promise<PushTexts> {
  try {
    const stored = await (await caches.open(CACHE)).match(KEY);
    return stored ? { ...FALLBACK, ...((await stored.json()) as Partial<PushTexts>) } : FALLBACK;
  } catch {
    return FALLBACK;
  }
}
