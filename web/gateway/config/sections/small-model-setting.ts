import { z } from '#shared/rpc/zod.ts';

/** A small model of the chat's provider, if it has one. */
export const AUTO_MODEL = 'auto';
/** The chat's own model. */
export const SAME_AS_CHAT = 'chat';

/** Model for titles, summaries and memory extraction: `auto`, `chat`, or a model's key. */
export const smallModelSetting = z
  .string()
  .max(300)
  .regex(new RegExp(`^(?:${AUTO_MODEL}|${SAME_AS_CHAT}|[^/]+/.+)$`), `must be "${AUTO_MODEL}", "${SAME_AS_CHAT}" or <provider>/<model_id>`)
  .default(AUTO_MODEL);
