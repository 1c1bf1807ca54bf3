/** An approved tool of an MCP server. */
export interface McpToolRecord {
  /** `<server>/<tool>` */
  id: string;
  /** SHA-256 of its definition: description, schemas and the like. */
  hash: string;
  approvedAt: number;
}
