/** Paths of an MCP server over HTTP. */

/** The default path of MCP. */
export const MCP_PATH = '/mcp';

/** The path of the metadata of a protected resource (RFC 9728). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
