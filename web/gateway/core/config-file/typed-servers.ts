import { canonical } from '../canonical.ts';
import { isObject, type Json } from '../merge.ts';

interface Versions {
  /** What the file says. */
  file: Json;
  /** What it said when file and gateway agreed last. */
  synced: Json;
  /** The gateway's own configuration before. */
  own: Json;
  /** What the two come to. */
  document: Json;
}

/**
 * The tool servers that a person has written into the file, by name: they are not as they were, nor as the gateway has them, and they came over whole. What the gateway
 * itself has written there, or what was put together of the two, is nobody's word.
 */
export function typedServers({ file, synced, own, document }: Versions): string[] {
  const [typed, before, ours, merged] = [file, synced, own, document].map(serversOf);
  return Object.keys(typed ?? {}).filter((name) => {
    const is = canonical(typed?.[name]);
    return is !== canonical(before?.[name]) && is !== canonical(ours?.[name]) && is === canonical(merged?.[name]);
  });
}

function serversOf({ tools }: Json): Json {
  const servers = isObject(tools) ? tools['mcpServers'] : undefined;
  return isObject(servers) ? servers : {};
}
