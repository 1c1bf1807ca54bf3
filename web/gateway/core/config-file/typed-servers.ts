import { canonical } from '../canonical.ts';
import { isObject, type Json } from '../merge.ts';

interface Versions {
  /** Contents of the file. */
  file: Json;
  /** Contents of the file when file and gateway were last in sync. */
  synced: Json;
  /** The gateway's own configuration before the merge. */
  own: Json;
  /** The merged document. */
  document: Json;
}

/**
 * Names of the MCP servers that a person wrote into the file: they differ from the last synced version and from the gateway's, and were
 * merged unchanged. Servers that the gateway wrote, or that combine both sides, do not count as a person's.
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
