import { goto } from '$app/navigation';

/** A picture on its way to a new drawing. */
export interface HandedOver {
  readonly picture: Blob;
  /** Name for the title. */
  readonly name: string;
}

let waiting: HandedOver | undefined;

/** Opens a new drawing on a picture, from anywhere in the app: a chat, a tool's screenshot, what another program shared. */
export async function annotate(picture: Blob, name: string): Promise<void> {
  waiting = { picture, name };
  await goto('/annotate?new');
}

/** Returns the handed-over image once. */
export function takeHandedOver(): HandedOver | undefined {
  const taken = waiting;
  waiting = undefined;
  return taken;
}
