import { ENGLISH_PUSH_TEXTS, type PushTexts } from '#shared/push-texts.ts';

const CACHE = 'perch-push';
const KEY = '/push/texts';

/** Stores texts in the language of the app for the service worker, which has no messages. */
export async function storePushTexts(texts: PushTexts): Promise<void> {
  await (await caches.open(CACHE)).put(KEY, new Response(JSON.stringify(texts)));
}

/** The stored texts; English ones if there are none. */
export async function readPushTexts(): Promise<PushTexts> {
  try {
    const stored = await (await caches.open(CACHE)).match(KEY);
    return stored ? { ...ENGLISH_PUSH_TEXTS, ...((await stored.json()) as Partial<PushTexts>) } : ENGLISH_PUSH_TEXTS;
  } catch {
    return ENGLISH_PUSH_TEXTS;
  }
}
