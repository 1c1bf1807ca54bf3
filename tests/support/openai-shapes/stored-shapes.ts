import { z } from '#shared/rpc/zod.ts';
import { inputItem } from './item-shapes.ts';
import { count, unixTime } from './number-shapes.ts';

const id = z.string().min(1);

/** Objects of `/v1/files`. */
export const file = z.strictObject({
  id: z.string().startsWith('file-'),
  object: z.literal('file'),
  bytes: count,
  created_at: unixTime,
  expires_at: unixTime.nullable(),
  filename: id,
  purpose: id,
  status: z.literal('processed'),
  status_details: z.null(),
});
export const fileList = z.strictObject({
  object: z.literal('list'),
  data: z.array(file),
  first_id: id.nullable(),
  last_id: id.nullable(),
  has_more: z.boolean(),
});
export const deletedFile = z.strictObject({ id, object: z.literal('file'), deleted: z.literal(true) });

/** Objects of `/v1/conversations`. */
export const conversation = z.strictObject({
  id: z.string().startsWith('conv_'),
  object: z.literal('conversation'),
  created_at: unixTime,
  metadata: z.record(z.string(), z.string()),
});
export const deletedConversation = z.strictObject({ id, object: z.literal('conversation.deleted'), deleted: z.literal(true) });
export const conversationItem = inputItem;
