#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderFoundation
    import LarderSystem
    import LarderCore

    /// The memory from which libcurl reads one request while it sends it. It must live as long as the handle is in use.
    final class CurlRequestMemory {
        private let curl: CurlLibrary
        private var fieldList: UnsafeMutableRawPointer?
        private var bodyBytes: UnsafeMutableRawBufferPointer?
        /// Where libcurl writes its own words for an error. They may contain the host, so they are not shown.
        private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: 256)

        init(_ curl: CurlLibrary) {
            self.curl = curl
            errorText[0] = 0
        }

        deinit {
            curl.endList(fieldList)
            bodyBytes?.deallocate()
            errorText.deallocate()
        }

        /// The words of libcurl for the error that ended the request. They may contain the host.
        var errorWords: String { String(cString: errorText) }

        /// Sets the options of a handle for a request. Called once.
        ///
        /// - Parameter context: the exchange that the functions of ``CurlExchange`` get.
        func apply(
            _ request: HTTPRequest, to handle: CurlLibrary.Handle, connectLimit: Duration,
            context: UnsafeMutableRawPointer
        ) {
            curl.set(.private, context, on: handle)
            curl.set(.writeData, context, on: handle)
            curl.set(.headerData, context, on: handle)
            curl.set(.errorBuffer, UnsafeRawPointer(errorText), on: handle)
            let milliseconds = (min(connectLimit, .seconds(1 << 20)).nanoseconds + 999_999) / 1_000_000
            curl.set(.connectTimeoutMS, Int(max(1, milliseconds)), on: handle)
            curl.set(.address, request.url, on: handle)
            applyMethod(of: request, to: handle)
            if !request.isRepeatable { forbidRepetition(handle, context) }
            for field in request.fields {
                addLine(field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value)
            }
            // libcurl does not unpack bodies, because it does not tell whether they are whole.
            if !request.fields.contains(where: { $0.name == "accept-encoding" }) {
                addLine("Accept-Encoding: " + Unpacker.Format.acceptedCodings)
            }
            if let fieldList { curl.set(.httpHeader, UnsafeRawPointer(fieldList), on: handle) }
        }

        private func applyMethod(of request: HTTPRequest, to handle: CurlLibrary.Handle) {
            if request.method == "HEAD" { curl.set(.noBody, 1, on: handle) }
            let hasBody = request.body != nil || ["POST", "PUT", "PATCH"].contains(request.method)
            if hasBody {
                let body = request.body ?? Data()
                let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, body.count), alignment: 1)
                body.copyBytes(to: bytes)
                bodyBytes = bytes
                curl.set(.post, 1, on: handle)
                curl.set(.postFields, UnsafeRawPointer(bytes.baseAddress), on: handle)
                _ = larder_curl_set_size(curl.setEasy, handle, .postFieldSize, Int64(body.count))
                addLine("Expect:")
                // Otherwise libcurl would call the body a form.
                if !request.fields.contains(where: { $0.name == "content-type" }) { addLine("Content-Type:") }
            }
            let usual = hasBody ? "POST" : "GET"
            if request.method != usual, request.method != "HEAD" {
                curl.set(.customRequest, request.method, on: handle)
            }
        }

        /// Makes libcurl send the request at most once. It would send it again when a connection that it used before
        /// ends without an answer.
        private func forbidRepetition(_ handle: CurlLibrary.Handle, _ context: UnsafeMutableRawPointer) {
            curl.set(.prerequestData, context, on: handle)
            let set = larder_curl_set_prerequest_function(
                curl.setEasy, handle, .prerequestFunction, CurlExchange.allowSending)
            if set != 0 { curl.set(.freshConnect, 1, on: handle) }
        }

        private func addLine(_ line: String) {
            fieldList = line.withCString { curl.appendToList(fieldList, $0) } ?? fieldList
        }
    }
#endif
