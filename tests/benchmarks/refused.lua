-- A call with a token that has expired, as an MCP client sends it; the answers are counted by status, as JSON.
wrk.method = "POST"
wrk.path = "/mcp"
wrk.body = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}'
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["Authorization"] = "Bearer expired"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["MCP-Protocol-Version"] = "2025-11-25"

function done(summary, latency)
  local broken = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.stderr:write(string.format(
    '{"answers": %d, "refused": %d, "broken": %d, "seconds": %f, "p99": %f}',
    summary.requests, summary.errors.status, broken, summary.duration / 1e6, latency:percentile(99) / 1e6))
end
