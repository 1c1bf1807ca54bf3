import type { Figure } from './figures.ts';
import { chats } from './vault/chats.ts';
import { newHost } from './vault/new-host.ts';
import { writes } from './vault/writes.ts';

/** The vault: what the journal and the change log cost a write, how soon a new host has it all, and how far hosts lag behind one another. */
export async function vault(options: { quick: boolean }): Promise<Figure[]> {
  return [...(await writes(options)), ...(await newHost(options)), ...(await chats(options))];
}
